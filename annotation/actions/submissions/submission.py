"""What the three submits share: whose work it is, whether it still has a place, whether the rules allow it."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.actions.leases import leasing
from annotation.errors import AnnotationError
from annotation.models import Ending, Involvement, Lease, Slot
from annotation.models.stages import public_stage
from annotation.queries.eligibility import group_of, person_facts, task_facts
from annotation.rules.eligibility import why_not
from annotation.rules.watch_evidence import seconds_spent, watch_evidence
from annotation.transactions import Refused, checked_key, serialize_writes
from projects.access import require_role
from projects.models import User
from projects.sql.prepared_writes import insert


@dataclass(frozen=True)
class Submission:
    """What every submit carries."""

    person: User
    token: str
    key: str
    now: datetime
    watch: Any = None
    seconds: Any = None
    # Where the caller has read it already (annotation.access.judged_lease_for).
    lease: Lease | None = None


def get_open_lease(sent: Submission, stage: str, role: str) -> Lease:
    """The lease that the work came under; AnnotationError for another stage's, AccessDenied without the role.

    Another submit of the person waits from here on: of an edit and a vote on one video that are sent at once, each
    would not know of the other, and both would count.
    """
    checked_key(sent.key)
    serialize_writes(sent.person)
    lease = sent.lease or lease_for(sent.person, sent.token)
    if public_stage(lease.slot.stage) != stage:
        raise AnnotationError(_("This task belongs to another stage. Reload the page."))
    require_role(sent.person, lease.slot.project, role)
    return lease


def check_eligibility(slot: Slot, sent: Submission, answered: Collection[int] | None = None) -> Refused | None:
    """The rule again, of facts as they are now. Where it forbids, the slot is freed for somebody else.

    Two things hold at the claim alone: a video that went missing since was still watched, and a reservation ends with
    the lease that overrode it. `answered`: the items that the person has answered in the stage, where that is known.
    """
    task = replace(task_facts(slot, sent.now), media_ready=True, reserved_for=None)
    refusal = why_not(person_facts(sent.person, task, answered), task, slot.project.leakage_scope)
    if refusal is None:
        return None
    leasing.end_lease(slot, Ending.REFUSED, sent.now, sent.person)
    return Refused(refusal)


def common_fields(sent: Submission, lease: Lease, place: leasing.SlotToFill) -> dict[str, Any]:
    """The columns of WorkRecord. Without a slot the record is kept apart: it came too late to count.

    Time is paid, and a browser can say any: it is at most that since the claim. Not since the last heartbeat, and not
    until the lease's end: who is offline works on, and what they send later is the time that they measured.
    """
    return {
        "slot": place.slot,
        "person": sent.person,
        "idempotency_key": sent.key,
        "guideline_id": lease.guideline_id,
        "watch": watch_evidence(sent.watch),
        "seconds_spent": seconds_spent(sent.seconds, (sent.now - lease.leased_at).total_seconds()),
        "late": place.late,
        "created_at": sent.now,
    }


def involve(sent: Submission, slot: Slot, *kinds: str) -> None:
    """The person had a hand in the slot's video: the leakage rule reads it from now on. The slot's task is loaded."""
    hand = {"project_id": slot.project_id, "person": sent.person, "video_id": slot.video_id, "group_id": group_of(slot)}
    insert(*(Involvement(kind=kind, **hand) for kind in kinds), ignore_conflicts=True)


def slot_with_task(lease: Lease) -> Slot:
    """The slot that a lease was on, with what `involve` needs, wherever the slot has gone since."""
    return Slot.objects.select_related("task__candidate", "task__item__candidate_group").get(pk=lease.slot_id)
