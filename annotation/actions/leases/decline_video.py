"""A person skips a piece at a content warning: its place is free, and nothing of the video comes to them again."""

from datetime import datetime

from django.utils import timezone

from annotation.access import lease_for
from annotation.actions.leases.leasing import end_lease
from annotation.models import DeclinedVideo, Ending, Slot, SlotState
from annotation.transactions import run_in_transaction
from projects.models import User


def decline_video(person: User, token: str, *, now: datetime | None = None) -> None:
    """The audit trail says that the piece was skipped, as of any skip, and not why. No harm where it is over."""
    run_in_transaction(lambda: _decline(person, token, now or timezone.now()))


def _decline(person: User, token: str, now: datetime) -> None:
    lease = lease_for(person, token)
    DeclinedVideo.objects.get_or_create(person=person, video_id=lease.slot.video_id)
    held = Slot.objects.filter(person=person, state=SlotState.LEASED, video=lease.slot.video_id)
    for slot in held.select_for_update(of=("self",), no_key=True).select_related("task", "project"):
        end_lease(slot, Ending.SKIPPED, now, person)
