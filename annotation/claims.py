"""What a claim hands to its caller."""

from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Lease, Slot
from annotation.models.stages import public_stage


@dataclass(frozen=True)
class Claim:
    """A lease that runs; `stage` is that of its page.

    `resumed`: it was the person's already; `skipped_before`: they had skipped this task. `upcoming_slot`: what they
    are offered next if it is free then; `upcoming_video` its video, where that is known.
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
    # The rows behind it where they were read in this very request, so that its card need not read them again.
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
    """The claim of a running lease."""
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
