"""A researcher withdraws an invitation; who came by it stays."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import or_404, require_role
from projects.models import Invitation, Project, Role, User


@transaction.atomic
def withdraw_invitation(actor: User, project: Project, pk: int) -> bool:
    """Whether it was still open to be withdrawn. Http404 for another project's."""
    require_role(actor, project, Role.RESEARCHER)
    invitation = or_404(Invitation.objects.filter(pk=pk, project=project).first(), _("There is no such invitation."))
    moved = Invitation.objects.filter(pk=pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
    if moved:
        audit.record(audit.event(project, actor, "projects.withdraw_invitation", invitation, to_state="withdrawn"))
    return bool(moved)
