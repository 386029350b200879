"""The claim that is returned to a page or program."""

from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Lease, Slot
from annotation.models.stages import public_stage


@dataclass(frozen=True)
class Claim:
    """A running lease; `stage` is the stage of its page.

    `resumed`: the person already held it. `skipped_before`: they skipped this task earlier. `upcoming_slot`: the slot
    offered next if it is still free; `upcoming_video`: its video, if known.
    """

    token: str
    stage: str
    project_id: int
    task_id: int
    slot_id: int
    lease_id: int
    expires_at: datetime
    caption_first: bool | None = None
    upcoming_slot: int | None = None
    upcoming_video: int | None = None
    resumed: bool = False
    skipped_before: bool = False
    # The rows that this request has read, so that the card does not read them again.
    rows: tuple[Slot, Lease] | None = field(default=None, compare=False, repr=False)


def claim_of(
    lease: Lease,
    slot: Slot,
    *,
    resumed: bool = False,
    skipped_before: bool = False,
    upcoming_video: int | None = None,
    with_rows: bool = False,
) -> Claim:
    """Return the claim of a running lease."""
    return Claim(
        token=lease.token,
        stage=public_stage(slot.stage),
        project_id=slot.project_id,
        task_id=slot.task_id,
        slot_id=slot.pk,
        lease_id=lease.pk,
        expires_at=slot.expires_at,
        caption_first=lease.caption_first,
        upcoming_slot=lease.upcoming_slot,
        upcoming_video=upcoming_video,
        resumed=resumed,
        skipped_before=skipped_before,
        rows=(slot, lease) if with_rows else None,
    )
