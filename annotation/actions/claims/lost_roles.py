"""What a person can no longer work on goes back to the others."""

from collections.abc import Collection
from datetime import datetime

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.leases.leasing import end_lease
from annotation.models import Ending, Slot, SlotState
from annotation.models.stages import stages_shown_as
from projects.models import Project, User


def end_leases_of_roles(project: Project, person: User, lost_roles: Collection[str], actor: User, now: datetime) -> int:
    """End the person's leases in the stages of `lost_roles`, and what is kept for them waits no longer; how many ended.

    Who lacks the role sends no more under these leases; with the role again, what they send is kept, as late work is.
    """
    stages = [stage for desk, role in ROLE_OF_STAGE.items() if role in lost_roles for stage in stages_shown_as(desk)]
    of_stages = Slot.objects.filter(project=project, stage__in=stages)
    held = of_stages.filter(person=person, state=SlotState.LEASED)
    slots = list(held.select_for_update(of=("self",), no_key=True).select_related("task", "project"))
    for slot in slots:
        end_lease(slot, Ending.CANCELLED, now, actor)
    of_stages.filter(reserved_for=person).update(reserved_for=None, reserved_until=None)
    return len(slots)
