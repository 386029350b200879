"""A person gives a piece of work back without doing it."""

from datetime import datetime

from django.utils import timezone

from annotation.access import lease_for
from annotation.actions.leases.leasing import end_lease
from annotation.models import Ending, Slot, SlotState
from annotation.transactions import run_in_transaction
from projects.models import User


def release(person: User, token: str, *, now: datetime | None = None) -> None:
    """Free the slot; the task comes back to this person only when there is nothing else. No harm where it is over."""
    run_in_transaction(lambda: _release(person, token, now or timezone.now()))


def _release(person: User, token: str, now: datetime) -> None:
    lease = lease_for(person, token)
    held = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token)
    slot = held.select_for_update(of=("self",), no_key=True).select_related("task", "project").first()
    if slot is not None:
        end_lease(slot, Ending.SKIPPED, now, person)
