"""Shared by all submits: check the lease, the slot and the rules."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.http import Http404
from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.actions.leases import leasing
from annotation.errors import OtherStage
from annotation.models import Edit, Ending, Involvement, Lease, ObjectAnswer, Review, Slot, Stage, Vote
from annotation.models.stages import public_stage
from annotation.queries.cards import Claim
from annotation.queries.eligibility import group_of, person_facts, task_facts
from annotation.queries.held import HELD
from annotation.rules.eligibility import OPEN_TO_ALL, PersonFacts, why_not
from annotation.rules.watch_evidence import seconds_spent, watch_evidence
from annotation.transactions import Refused, checked_key
from foilworks.core.projects.access import get_project, remember_roles, require_access, require_role
from foilworks.core.projects.models import User
from foilworks.core.projects.sql.fast_inserts import insert

Record = TypeVar("Record", Vote, Edit, Review, ObjectAnswer)


@dataclass(frozen=True)
class Submission:
    """The fields of every submit."""

    person: User
    token: str
    key: str
    now: datetime
    watch: Any = None
    seconds: Any = None
    # The slug of the project in a page's address; without one, a person who is no member of it gets AccessDenied.
    slug: str = ""


@dataclass(frozen=True)
class StoredWork(Generic[Record]):
    """What was stored, the lease it was submitted under, and the person's next task if it was leased as well."""

    record: Record
    lease: Lease
    claim: Claim | None = None


def held_lease(sent: Submission, stage: str, role: str) -> Lease:
    """Return the lease of the work, and lock the person, what the work is about, and the slot.

    Other submits of the person wait from here on: an edit and a vote on one video, sent at once, would otherwise both
    count. Http404 for a lease of somebody else; AnnotationError for another stage's, AccessDenied without the role.
    """
    checked_key(sent.key)
    keys = {"token": sent.token, "person": sent.person.pk}
    rows = next((rows for statement in HELD[Stage(stage)] if (rows := statement.all(**keys))), None)
    lease: Lease | None = rows[0] if rows else None
    if lease is None or public_stage(lease.slot.stage) != stage or sent.slug not in ("", lease.slot.project.slug):
        raise _why_not_held(sent, role)
    project = lease.slot.project
    remember_roles(sent.person, project, {row.role: row.consented for row in rows or () if row.role})
    if sent.slug:
        require_access(sent.person, project, role)
    else:
        require_role(sent.person, project, role)
    lease.slot.task = lease.task
    if lease.task.item_id:
        lease.task.item.subtest.project = project
    if lease.standing is not None:
        # Null: the previous version created the row.
        lease.standing.policy, lease.standing.gold_ahead = project.quality, lease.standing.gold_ahead or []
    return lease


def _why_not_held(sent: Submission, role: str) -> Exception:
    """Return what the person who has no such lease reads."""
    if sent.slug:
        get_project(sent.person, sent.slug, role)
        return Http404(_("Task not found."))
    lease_for(sent.person, sent.token)
    return OtherStage(_("This task belongs to another stage. Reload the page."))


def check_eligibility(slot: Slot, sent: Submission, answered: Collection[int] | None = None) -> Refused | None:
    """Check the rule again on current facts; free the slot for others if it forbids the work.

    Two things are checked at the claim only: a video that is now missing was still watched, and a reservation ends with
    the lease that overrode it. `answered`: the items that the person has answered in the stage, if known.
    """
    task = replace(task_facts(slot, sent.now), media_ready=True, reserved_for=None)
    open_to_all = task.stage in OPEN_TO_ALL
    facts = PersonFacts(sent.person.pk) if open_to_all else person_facts(sent.person, task, answered)
    refusal = why_not(facts, task, slot.project.leakage_scope)
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
