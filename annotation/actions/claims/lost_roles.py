"""Free the work of a person who has lost a role."""

from collections.abc import Collection
from datetime import datetime

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.leases.leasing import end_lease
from annotation.models import Ending, Slot, SlotState
from annotation.models.stages import stages_shown_as
from foilworks.core.projects.models import Project, User


def end_leases_of_roles(project: Project, person: User, lost_roles: Collection[str], actor: User, now: datetime) -> int:
    """End the person's leases and reservations in the stages of `lost_roles`; return how many leases ended.

    Without the role, nothing more is accepted under these leases; with it again, submissions are stored as late work.
    """
    stages = [stage for desk, role in ROLE_OF_STAGE.items() if role in lost_roles for stage in stages_shown_as(desk)]
    of_stages = Slot.objects.filter(project=project, stage__in=stages)
    leased = of_stages.filter(person=person, state=SlotState.LEASED)
    slots = list(leased.select_for_update(of=("self",), no_key=True).select_related("task", "project"))
    for slot in slots:
        end_lease(slot, Ending.CANCELLED, now, actor)
    of_stages.filter(reserved_for=person).update(reserved_for=None, reserved_until=None)
    return len(slots)
