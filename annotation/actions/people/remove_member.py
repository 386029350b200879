"""A researcher ends somebody's membership; what they have done stays."""

from datetime import datetime

from django.utils import timezone

from annotation.access import member_for
from annotation.actions.claims.lost_roles import end_leases_of_roles
from annotation.transactions import run_in_transaction
from projects.actions.set_roles import set_roles
from projects.models import Project, User


def remove_member(actor: User, project: Project, person_id: int, *, now: datetime | None = None) -> int:
    """The person is no member any more; how many of their leases were freed.

    ProjectError for the last researcher, Http404 for who is no member.
    """
    return run_in_transaction(lambda: _remove(actor, project, person_id, now or timezone.now()))


def _remove(actor: User, project: Project, person_id: int, now: datetime) -> int:
    person = member_for(actor, project, person_id)
    lost = set_roles(actor, project, person, ())
    return end_leases_of_roles(project, person, lost, actor, now)
