"""A researcher lost the temporary password of an account that nobody has used yet, and gets another."""

from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from projects import audit
from projects.access import require_role
from projects.actions.add_member import Added, temporary_password
from projects.demo_accounts import refuse_published
from projects.errors import ProjectError
from projects.models import ApiToken, AuditEvent, Membership, Project, Role, User


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


@transaction.atomic
def renew_password(actor: User, project: Project, person_id: int) -> Added:
    """Another temporary password, told once; the one before opens nothing any more.

    ProjectError for any other account than an unused one of this project. AccessDenied for a published account of a
    demo, which makes no accounts either.
    """
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, _("The accounts of a demo make no further ones; sign in with an account of your own."))
    # Locked, so that a first sign-in and a new password do not miss each other.
    unused = unused_accounts(project).select_for_update(of=("self",), no_key=True)
    person = unused.filter(pk=person_id).first()
    if person is None:
        raise ProjectError(
            _(
                "This account has been used, or is not this project's alone: only its owner or the operator sets its "
                "password."
            )
        )
    password = temporary_password()
    person.set_password(password)
    person.save(update_fields=["password"])
    audit.record(audit.event(project, actor, "projects.renew_password", person))
    return Added(person, password)
