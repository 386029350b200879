"""A researcher makes a link that brings people into the project."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import checked_roles, require_role
from projects.demo_accounts import refuse_published
from projects.errors import ProjectError
from projects.models import Invitation, Project, Role, User

MAX_DAYS = 90


@transaction.atomic
def make_invitation(
    actor: User, project: Project, roles: Sequence[str], *, days: int = 7, most_uses: int | None = 1, note: str = ""
) -> Invitation:
    """`days`: 1 to 90; `most_uses` None: any number of people. ProjectError: no role, a bad number."""
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, _("The accounts of a demo invite nobody; sign in with an account of your own."))
    if not 1 <= days <= MAX_DAYS or (most_uses is not None and most_uses < 1):
        words = _("An invitation holds for 1 to %(most)s days, for one person or more.")
        raise ProjectError(words % {"most": MAX_DAYS})
    wanted = list(checked_roles(roles))
    invitation = Invitation.objects.create(
        project=project,
        roles=wanted,
        note=note.strip(),
        most_uses=most_uses,
        expires_at=timezone.now() + timedelta(days=days),
        created_by=actor,
    )
    audit.record(
        audit.event(
            project, actor, "projects.make_invitation", invitation, roles=", ".join(wanted), most_uses=most_uses
        )
    )
    return invitation
