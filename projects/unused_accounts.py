"""Accounts that a project made and nobody has ever used: nothing of anybody is behind their password."""

from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast

from projects.models import ApiToken, AuditEvent, Membership, Project, User


def unused_accounts(project: Project) -> QuerySet[User]:
    """Members whose account this project's page made, who have never signed in, and who are nowhere else.

    Whoever has signed in, has a token, or belongs to a second project has a password that is theirs alone: a researcher
    who could set it would come in as that person.
    """
    made = AuditEvent.objects.filter(
        project=project,
        action="projects.add_member",
        target_type=User._meta.label_lower,
        target_id=Cast(OuterRef("pk"), CharField()),
        details__new_account=True,
    )
    places = Membership.objects.filter(person=OuterRef("pk"))
    return User.objects.filter(
        Exists(made),
        Exists(places.filter(project=project)),
        ~Exists(places.exclude(project=project)),
        ~Exists(ApiToken.objects.filter(person=OuterRef("pk"))),
        last_login=None,
        password_is_temporary=True,
        is_active=True,
        is_staff=False,
        is_superuser=False,
    )
