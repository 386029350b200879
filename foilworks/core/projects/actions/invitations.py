"""Create, accept and withdraw invitations."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import checked_roles, forget_roles, or_404, require_role
from foilworks.core.projects.actions.members import make_person
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_INVITATIONS, refuse_published
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.invitations import (
    closed_reason,
    has_its_roles,
    invitation_for,
    invitation_named,
    over,
    still_holds,
)
from foilworks.core.projects.models import CrowdWorker, Invitation, InvitationUse, Membership, Project, Role, User

MAX_DAYS = 90


@transaction.atomic
def make_invitation(
    actor: User, project: Project, roles: Sequence[str], *, days: int = 7, most_uses: int | None = 1, note: str = ""
) -> Invitation:
    """`days`: 1 to 90; `most_uses` None: any number of people. ProjectError: no role, a bad number."""
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, NO_INVITATIONS)
    if not 1 <= days <= MAX_DAYS or (most_uses is not None and most_uses < 1):
        words = _("An invitation lasts 1 to %(most)s days and admits at least one person.")
        raise ProjectError(words % {"most": MAX_DAYS})
    role_names = list(checked_roles(roles))
    invitation = Invitation.objects.create(
        project=project,
        roles=role_names,
        note=note.strip(),
        most_uses=most_uses,
        expires_at=timezone.now() + timedelta(days=days),
        created_by=actor,
    )
    audit.record(
        audit.event(
            project, actor, "projects.make_invitation", invitation, roles=", ".join(role_names), most_uses=most_uses
        )
    )
    return invitation


@transaction.atomic
def make_team_invitations(actor: User, project: Project, people: Mapping[str, int]) -> list[Invitation]:
    """Create one link per role for so many people, valid for a week; roles with 0 people get none."""
    return [make_invitation(actor, project, [role], most_uses=n) for role, n in people.items() if n]


def accept_invitation(person: User, token: str, *, now: datetime | None = None) -> Project:
    """The person has the invitation's roles, beside those that they had. EntryRefused: the link holds no more.

    Who came by the link before and was removed since does not come back by it.
    """
    moment = now or timezone.now()
    invitation = invitation_named(token)
    if has_its_roles(person, invitation):
        return invitation.project
    if why := closed_reason(invitation, moment):
        raise over(invitation, why)
    with transaction.atomic():
        _use(person, invitation, moment)
    forget_roles(person)
    return invitation.project


def accept_with_new_account(
    token: str, *, username: str, password: str, email: str = "", now: datetime | None = None
) -> tuple[User, Project]:
    """An account is made, for this invitation alone. ProjectError: a taken or impossible name; EntryRefused too."""
    moment, name_taken = now or timezone.now(), _("The name “%(name)s” is already in use. Choose another one.")
    invitation = invitation_for(token, moment)
    try:
        with transaction.atomic():
            person = make_person(username.strip(), password, name_taken, email=email)
            _use(person, invitation, moment)
    except IntegrityError as error:
        raise ProjectError(name_taken % {"name": username}) from error
    return person, invitation.project


def _use(person: User, invitation: Invitation, now: datetime) -> None:
    project = invitation.project
    have = set(Membership.objects.filter(project=project, person=person).values_list("role", flat=True))
    new = [role for role in invitation.roles if role not in have]
    if not have and InvitationUse.objects.filter(invitation=invitation, person=person).exists():
        raise over(invitation, "removed")
    if not Invitation.objects.filter(still_holds(now), pk=invitation.pk).update(uses=F("uses") + 1):
        raise over(invitation, "used up")
    InvitationUse.objects.get_or_create(invitation=invitation, person=person, defaults={"at": now})
    Membership.objects.bulk_create(Membership(project=project, person=person, role=role) for role in new)
    # A link from before the removal does not undo it.
    removed = CrowdWorker.objects.filter(project=project, person=person, removed_at__lt=invitation.created_at)
    removed.update(removed_at=None)
    audit.record(
        audit.event(project, person, "projects.accept_invitation", invitation, roles=", ".join(new), uses_one=True)
    )


@transaction.atomic
def withdraw_invitation(actor: User, project: Project, pk: int) -> bool:
    """Whether it was still open to be withdrawn. Http404 for another project's."""
    require_role(actor, project, Role.RESEARCHER)
    invitation = or_404(Invitation.objects.filter(pk=pk, project=project).first(), _("Invitation not found."))
    n_withdrawn = Invitation.objects.filter(pk=pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
    if n_withdrawn:
        audit.record(audit.event(project, actor, "projects.withdraw_invitation", invitation, to_state="withdrawn"))
    return bool(n_withdrawn)
