"""Read notifications: only those whose role the person still holds, of projects that exist."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from foilworks.core.projects.models import Membership, Notification, NotificationSettings, Project, Role, User


def visible() -> QuerySet[Notification]:
    """Return the notifications that their people may see now.

    A validator may not learn anything about items from a reviewer's notifications (docs/workflow.md#rule-1).
    """
    memberships = Membership.objects.filter(project=OuterRef("project"), person=OuterRef("person"))
    judges = Q(role=Role.REVIEWER) & Q(Exists(memberships.filter(role=Role.VALIDATOR)))
    rows = Notification.objects.filter(Exists(memberships.filter(role=OuterRef("role"))), project__deleted_at=None)
    return rows.exclude(judges)


def notifications_of(person: User) -> QuerySet[Notification]:
    return visible().filter(person=person)


def with_unread(people: QuerySet[User]) -> QuerySet[User]:
    """Add `unread_notifications` to each person, so that the header of a page needs no query of its own."""
    unread = visible().filter(person=OuterRef("pk"), read_at=None).order_by()
    counts = unread.values("person").annotate(n=Count("pk")).values("n")
    return people.annotate(unread_notifications=Coalesce(Subquery(counts), Value(0)))


def projects_of(person: User) -> list[Project]:
    """Return the projects that the person has notifications of, by name."""
    return list(Project.objects.filter(pk__in=notifications_of(person).order_by().values("project")).order_by("name"))


def settings_of(person: User) -> NotificationSettings:
    """Return what the person chose; unsaved defaults before the first choice."""
    return NotificationSettings.objects.filter(person=person).first() or NotificationSettings(person=person)
