"""What a claim hands to its caller."""

from dataclasses import dataclass
from datetime import datetime

from annotation.models import Lease, Slot


@dataclass(frozen=True)
class Claim:
    """A lease that runs. `resumed`: it was the person's already; `skipped_before`: they had skipped this task."""

    token: str
    stage: str
    project_id: int
    task_id: int
    slot_id: int
    lease_id: int
    expires_at: datetime
    caption_first: bool | None = None
    resumed: bool = False
    skipped_before: bool = False


def claim_of(lease: Lease, slot: Slot, *, resumed: bool = False, skipped_before: bool = False) -> Claim:
    """The claim of a running lease."""
    return Claim(
        token=lease.token,
        stage=slot.stage,
        project_id=slot.project_id,
        task_id=slot.task_id,
        slot_id=slot.pk,
        lease_id=lease.pk,
        expires_at=slot.expires_at,
        caption_first=lease.caption_first,
        resumed=resumed,
        skipped_before=skipped_before,
    )
