"""Invitation links: the row's id and nonce, signed by this installation, without roles."""

from datetime import datetime

from django.core.signing import BadSignature, Signer
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.models import Invitation, Membership, User

SALT = "projects.invitation"


def token_of(invitation: Invitation) -> str:
    return Signer(salt=SALT).sign_object([invitation.pk, invitation.nonce])


def invitation_for(token: str, now: datetime | None = None) -> Invitation:
    """Return a valid link's invitation. EntryRefused: forged, withdrawn, expired, used up."""
    invitation = invitation_named(token)
    why = closed_reason(invitation, now or timezone.now())
    if why:
        raise over(invitation, why)
    return invitation


def invitation_named(token: str) -> Invitation:
    """The invitation that we have signed into the link, over or not. EntryRefused: forged, or of a deleted project."""
    try:
        pk, nonce = Signer(salt=SALT).unsign_object(token)
    except (BadSignature, ValueError, TypeError) as error:
        raise _forged() from error
    invitation = (
        Invitation.objects.select_related("project").filter(pk=pk, nonce=nonce, project__deleted_at=None).first()
    )
    if invitation is None:
        raise _forged()
    return invitation


def has_its_roles(person: User, invitation: Invitation) -> bool:
    """Whether the link has nothing to give to the person: they click it again."""
    memberships = Membership.objects.filter(project=invitation.project_id, person=person, role__in=invitation.roles)
    return memberships.count() == len(invitation.roles)


def closed_reason(invitation: Invitation, now: datetime) -> str:
    """Return a word, or "" while the invitation is valid."""
    if invitation.withdrawn_at is not None:
        return "withdrawn"
    if invitation.expires_at <= now:
        return "expired"
    used_up = invitation.most_uses is not None and invitation.uses >= invitation.most_uses
    return "used up" if used_up else ""


CLOSED_REASONS = {
    "withdrawn": gettext_lazy("withdrawn"),
    "expired": gettext_lazy("expired"),
    "used up": gettext_lazy("used up"),
}


def still_holds(now: datetime) -> Q:
    """Return the same as a query."""
    return Q(withdrawn_at=None, expires_at__gt=now) & (Q(most_uses=None) | Q(uses__lt=F("most_uses")))


def over(invitation: Invitation, why: str) -> EntryRefused:
    words = {
        "withdrawn": _("This invitation was withdrawn. Ask the sender for a new one."),
        "expired": _("This invitation has expired. Ask the sender for a new one."),
        "used up": _("This invitation has already been used. Ask the sender for a new one."),
        "removed": _(
            "You joined with this invitation before, and you are no longer a member. Ask the project's researcher."
        ),
    }
    return EntryRefused(words[why], f"invitation {why}", project=invitation.project, target=invitation)


def _forged() -> EntryRefused:
    return EntryRefused(
        _("This link is not a valid invitation. Copy the complete link that you received."), "invitation forged"
    )
