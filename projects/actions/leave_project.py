"""A person ends their own membership and takes their consent back."""

from datetime import datetime

from django.utils import timezone

from projects import audit
from projects.access import forget_roles
from projects.actions.set_roles import keep_one_researcher
from projects.models import Consent, Membership, Project, Role, User


def leave_project(person: User, project: Project, actor: User, *, now: datetime | None = None) -> frozenset[str]:
    """The roles that ended. ProjectError for the last researcher.

    Runs inside the caller's transaction: annotation.actions.people frees what was in the person's hands.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    rows = Membership.objects.filter(project=project, person=person)
    before = frozenset(rows.values_list("role", flat=True))
    if Role.RESEARCHER in before:
        keep_one_researcher(project, person)
    rows.delete()
    forget_roles(person)
    standing = Consent.objects.filter(text__project=project, person=person, withdrawn_at=None)
    withdrawn = standing.update(withdrawn_at=now or timezone.now())
    audit.record(
        audit.event(
            project, actor, "projects.leave", person, before=", ".join(sorted(before)), consents_withdrawn=withdrawn
        )
    )
    return before
