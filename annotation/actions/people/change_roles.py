"""A researcher changes what a member may do."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from annotation.access import member_for
from annotation.actions.claims.lost_roles import end_leases_of_roles
from annotation.transactions import run_in_transaction
from projects.access import checked_roles
from projects.actions.set_roles import set_roles
from projects.models import Project, User


def change_roles(
    actor: User, project: Project, person_id: int, roles: Sequence[str], *, now: datetime | None = None
) -> int:
    """The member's roles become `roles`, one or more; how many leases in stages that they lost were freed.

    ProjectError: no role, an unknown one, the last researcher. Http404 for who is no member.
    """
    wanted = checked_roles(roles)
    return run_in_transaction(lambda: _change(actor, project, person_id, wanted, now or timezone.now()))


def _change(actor: User, project: Project, person_id: int, roles: Sequence[str], now: datetime) -> int:
    person = member_for(actor, project, person_id)
    lost = set_roles(actor, project, person, roles)
    return end_leases_of_roles(project, person, lost, actor, now)
