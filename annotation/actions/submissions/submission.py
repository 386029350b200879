"""Shared by all submits: check the lease, the slot and the rules."""

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
from foilworks.core.projects.access import require_role
from foilworks.core.projects.models import User
from foilworks.core.projects.sql.prepared import insert


@dataclass(frozen=True)
class Submission:
    """The fields of every submit."""

    person: User
    token: str
    key: str
    now: datetime
    watch: Any = None
    seconds: Any = None
    # If the caller has already read it (annotation.access.judged_lease_for).
    lease: Lease | None = None


def get_open_lease(sent: Submission, stage: str, role: str) -> Lease:
    """Return the lease of the work; AnnotationError for another stage's, AccessDenied without the role.

    Other submits of the person wait from here on: an edit and a vote on one video, sent at once, would otherwise both
    count.
    """
    checked_key(sent.key)
    serialize_writes(sent.person)
    lease = sent.lease or lease_for(sent.person, sent.token)
    if public_stage(lease.slot.stage) != stage:
        raise AnnotationError(_("This task belongs to another stage. Reload the page."))
    require_role(sent.person, lease.slot.project, role)
    return lease


def check_eligibility(slot: Slot, sent: Submission, answered: Collection[int] | None = None) -> Refused | None:
    """Check the rule again on current facts; free the slot for others if it forbids the work.

    Two things are checked at the claim only: a video that is now missing was still watched, and a reservation ends with
    the lease that overrode it. `answered`: the items that the person has answered in the stage, if known.
    """
    task = replace(task_facts(slot, sent.now), media_ready=True, reserved_for=None)
    refusal = why_not(person_facts(sent.person, task, answered), task, slot.project.leakage_scope)
    if refusal is None:
        return None
    leasing.end_lease(slot, Ending.REFUSED, sent.now, sent.person)
    return Refused(refusal)


def common_fields(sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill) -> dict[str, Any]:
    """Return the columns of WorkRecord. A record without a slot came too late to count.

    Time is paid and reported by the browser, so it is limited to the time since the claim. Heartbeats and the end of
    the lease do not limit it: a person who is offline continues to work.
    """
    return {
        "slot": slot_to_fill.slot,
        "person": sent.person,
        "idempotency_key": sent.key,
        "guideline_id": lease.guideline_id,
        "watch": watch_evidence(sent.watch),
        "seconds_spent": seconds_spent(sent.seconds, (sent.now - lease.leased_at).total_seconds()),
        "late": slot_to_fill.late,
        "created_at": sent.now,
    }


def involve(sent: Submission, slot: Slot, *kinds: str) -> None:
    """Record that the person is involved in the slot's video, for the leakage rule. The slot's task is loaded."""
    hand = {"project_id": slot.project_id, "person": sent.person, "video_id": slot.video_id, "group_id": group_of(slot)}
    insert(*(Involvement(kind=kind, **hand) for kind in kinds), ignore_conflicts=True)


def slot_with_task(lease: Lease) -> Slot:
    """Return the slot of a lease with what `involve` needs, even if it now belongs to somebody else."""
    return Slot.objects.select_related("task__candidate", "task__item__candidate_group").get(pk=lease.slot_id)
