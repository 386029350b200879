"""Somebody opens an invitation link: a person with an account, or one who gets it here."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import forget_roles
from projects.actions.add_member import make_person
from projects.errors import ProjectError
from projects.invitations import closed_reason, has_its_roles, invitation_for, invitation_named, over, still_holds
from projects.models import CrowdWorker, Invitation, InvitationUse, Membership, Project, User


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
    moment, taken = now or timezone.now(), _("The name “%(name)s” is taken; choose another.")
    invitation = invitation_for(token, moment)
    try:
        with transaction.atomic():
            person = make_person(username.strip(), password, taken, email=email)
            _use(person, invitation, moment)
    except IntegrityError as error:
        raise ProjectError(taken % {"name": username}) from error
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
    # A link that was made before the removal takes nothing of it back.
    removed = CrowdWorker.objects.filter(project=project, person=person, removed_at__lt=invitation.created_at)
    removed.update(removed_at=None)
    audit.record(
        audit.event(project, person, "projects.accept_invitation", invitation, roles=", ".join(new), uses_one=True)
    )
