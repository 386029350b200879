"""Leases: take, renew and end them; skip a task; keep a draft."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.db import transaction
from django.db.models import Case, F, IntegerField, Q, Value, When
from django.db.models.expressions import Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.transitions import move_candidates
from annotation.errors import AnnotationError, Conflict, LeaseEnded
from annotation.models import (
    DeclinedVideo,
    Draft,
    Ending,
    Guideline,
    Lease,
    SkipReason,
    Slot,
    SlotState,
    Stage,
    Standing,
    TaskState,
)
from annotation.models.stages import public_stage
from annotation.queries.eligibility import JUDGING
from annotation.rules.baseline import order_shown
from annotation.rules.drafts import parse_draft
from annotation.rules.ordering import caption_first
from annotation.transactions import run_in_transaction, serialize_writes
from corpus.models import DROPPED_OUT, Foil
from corpus.rules.states import CandidateState
from generation.models import Candidate
from projects import audit
from projects.models import User
from projects.secret_seeds import secret_seed
from projects.sql.prepared_queries import Prepared
from projects.sql.prepared_writes import PreparedUpdate, insert

# Where a slot's subtest is found; frames of an object check have none.
SUBTEST_PATH = {
    Stage.EDIT: "task__group__run__subtest",
    Stage.REVIEW: "task__candidate__group__run__subtest",
    Stage.VALIDATION: "item__subtest",
    Stage.BASELINE: "item__subtest",
    Stage.GOLD: "task__gold__subtest",
}
# Expired leases that one claim clears away; more wait for the next.
SWEEP_LIMIT = 200
# A subtest's own guideline before that of the stage.
NEWEST = (F("subtest").desc(nulls_last=True), "-version")
_GUIDELINE = Prepared(
    lambda project, stage, subtest: Guideline.objects.filter(
        Q(subtest=None) | Q(subtest=subtest), project=project, stage=stage
    ).order_by(*NEWEST)[:1]
)
_WAITING = Prepared(
    lambda group: Candidate.objects.filter(group=group, state__in=[CandidateState.QUEUED, CandidateState.RETURNED])
)
# What an editor of the group has in hand.
IN_HAND = Prepared(lambda group: Candidate.objects.filter(group=group, state=CandidateState.EDITING))
_OWN = Prepared(
    lambda pk, token: Slot.objects.select_for_update(of=("self",), no_key=True).filter(
        pk=pk, state=SlotState.LEASED, token=token, task__state=TaskState.OPEN
    )
)

_TAKE = PreparedUpdate(
    lambda pk, was, person, token, now, expires: (
        Slot.objects.filter(pk=pk, state=was),
        {
            "state": SlotState.LEASED,
            "person": person,
            "token": token,
            "leased_at": now,
            "expires_at": expires,
            "heartbeat_at": now,
        },
    )
)
_FILL = PreparedUpdate(
    lambda pk, state, token, person: (
        Slot.objects.filter(pk=pk, state=state, token=token),
        {"state": SlotState.DONE, "person": person, "token": "", "expires_at": None},
    )
)
_SUBMITTED = PreparedUpdate(
    lambda pk, slot, now: (
        Lease.objects.filter(Q(pk=pk) | Q(slot=slot, ending=Ending.RUNNING)),
        {"ending": Ending.SUBMITTED, "ended_at": now},
    )
)


@dataclass(frozen=True)
class SlotToFill:
    """What a submit gets: a slot to fill, or None where the work came too late to count."""

    slot: Slot | None
    late: bool


def open_lease(
    slot: Slot,
    person: User,
    now: datetime,
    *,
    was: str = SlotState.FREE,
    upcoming: int | None = None,
    standing: Standing | None = None,
    first: bool | None = None,
    since: datetime | None = None,
) -> Lease:
    """Lease the slot to the person; for an edit its candidates come along. Conflict where it is `was` no longer.

    `upcoming`: what the person is offered next. `standing`: whose tally the judgement goes into. `first`: whether the
    caption stands first, where that is not the slot's own matter. `since`: when the person had it first, for a piece
    that comes back to them. The slot comes with its task and project. IntegrityError where the person has a place in
    that item already.
    """
    token = secrets.token_urlsafe(32)
    expires = now + timedelta(seconds=slot.project.lease_seconds)
    if _TAKE(pk=slot.pk, was=was, person=person.pk, token=token, now=now, expires=expires) != 1:
        raise Conflict(_("Someone else has taken this task. Start the next one."))
    slot.state, slot.person, slot.token = SlotState.LEASED, person, token
    slot.leased_at, slot.expires_at, slot.heartbeat_at = now, expires, now
    lease = Lease(
        slot=slot,
        task_id=slot.task_id,
        person=person,
        caption_video_id=_caption_video(slot),
        token=token,
        caption_first=_caption_first(slot) if first is None else first,
        order_shown=_order_shown(slot),
        upcoming_slot=upcoming,
        guideline=_current_guideline(slot),
        standing=standing,
        leased_at=since or now,
    )
    insert(lease)
    if slot.stage == Stage.EDIT:
        take_candidates(slot, person)
    audit.record(audit.event(slot.project, person, "lease", slot, from_state=was, to_state=SlotState.LEASED))
    return lease


def take_candidates(slot: Slot, person: User) -> None:
    """What waits for editing in the slot's group moves into the editor's hands."""
    waiting = _WAITING.all(group=slot.task.group_id)
    for state in (CandidateState.QUEUED, CandidateState.RETURNED):
        of_state = [candidate for candidate in waiting if candidate.state == state]
        move_candidates(of_state, "claim", slot.project, person, claimed_from=state)


def return_candidates(slot: Slot, actor: User | None, reason: str) -> None:
    """What is still in the editor's hands goes back to where it was claimed from."""
    in_hand = IN_HAND.all(group=slot.task.group_id)
    returned = [candidate for candidate in in_hand if candidate.claimed_from == CandidateState.RETURNED]
    move_candidates(returned, "release_returned", slot.project, actor, reason)
    move_candidates([c for c in in_hand if c not in returned], "release", slot.project, actor, reason)


def end_lease(slot: Slot, ending: str, now: datetime, actor: User | None) -> None:
    """Free a leased slot; nothing happens where it is no longer leased under the token that it carries in hand."""
    freed = Slot.objects.filter(pk=slot.pk, state=SlotState.LEASED, token=slot.token).update(
        state=SlotState.FREE, person=None, token="", expires_at=None, leased_at=None, heartbeat_at=None
    )
    if not freed:
        return
    Lease.objects.filter(token=slot.token).update(ending=ending, ended_at=now)
    if slot.stage == Stage.EDIT:
        return_candidates(slot, actor, ending)
    if slot.stage == Stage.VALIDATION:
        task_slots.cancel_if_decided(slot)
    audit.record(
        audit.event(
            slot.project, actor, "end_lease", slot, from_state=SlotState.LEASED, to_state=SlotState.FREE, reason=ending
        )
    )


def sweep(project_id: int, now: datetime) -> None:
    """Free the slots whose leases have expired."""
    over = Slot.objects.filter(project=project_id, state=SlotState.LEASED, expires_at__lte=now)
    locked = over.select_for_update(skip_locked=True, of=("self",), no_key=True).select_related("task", "project")
    for slot in locked[:SWEEP_LIMIT]:
        end_lease(slot, Ending.EXPIRED, now, None)


def find_slot(lease: Lease, now: datetime) -> SlotToFill:
    """The slot that work under this lease may fill: its own, or where the lease has ended one that is free.

    A newer lease of the same person on the same task serves as well: it is the same work. AnnotationError where
    something was submitted under this lease before.
    """
    if lease.ending == Ending.SUBMITTED:
        raise AnnotationError(_("This task was already submitted. Start the next one."))
    locked = Slot.objects.select_for_update(of=("self",), no_key=True)
    own = _OWN.first(pk=lease.slot_id, token=lease.token)
    if own is not None:
        # What never changes of them was read with the lease.
        own.task, own.project, own.video = lease.task, lease.slot.project, lease.slot.video
        own.task.state = TaskState.OPEN
        return SlotToFill(own, late=own.expires_at <= now)
    slots = locked.select_related("task__candidate", "task__item__candidate_group", "project", "video")
    of_task = slots.filter(task=lease.task_id, task__state=TaskState.OPEN)
    if lease.slot.stage == Stage.GOLD:
        # Each place there is somebody's own.
        of_task = of_task.filter(pk=lease.slot_id)
    reserved = Q(reserved_until__gt=now) & ~Q(reserved_for=lease.person_id)
    takeable = Q(state=SlotState.LEASED, person=lease.person_id) | (Q(state=SlotState.FREE) & ~reserved)
    found = of_task.filter(takeable).order_by(_nearest(lease), "index").first()
    if found is not None and _holds_other_slot(lease, found):
        found = None
    return SlotToFill(found, late=True)


def fill(slot: Slot, lease: Lease, now: datetime) -> None:
    """The slot is the person's for good; its lease, and the one the work came under, end as submitted."""
    if _FILL(pk=slot.pk, state=slot.state, token=slot.token, person=lease.person_id) != 1:
        raise Conflict(_("Someone else has just taken this task. Submit again."))
    slot.state, slot.person_id = SlotState.DONE, lease.person_id
    _SUBMITTED(pk=lease.pk, slot=slot.pk, now=now)
    _end_draft(lease)


def close(lease: Lease, now: datetime) -> None:
    """Nothing more can be submitted under this lease."""
    Lease.objects.filter(pk=lease.pk).update(ending=Ending.SUBMITTED, ended_at=now)
    _end_draft(lease)


def _end_draft(lease: Lease) -> None:
    # An answer by key has none.
    if public_stage(lease.slot.stage) not in JUDGING:
        Draft.objects.filter(task=lease.task_id, person=lease.person_id).delete()


def _nearest(lease: Lease) -> Case:
    return Case(
        When(person=lease.person_id, then=Value(0)),
        When(pk=lease.slot_id, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )


def _holds_other_slot(lease: Lease, found: Slot) -> bool:
    """Whether the person has another place in that item: one place a person in an item."""
    if found.stage not in JUDGING:
        return False
    places = Slot.objects.filter(item=found.item_id, stage=found.stage, person=lease.person_id)
    return places.exclude(pk=found.pk).exists()


def _caption_video(slot: Slot) -> int:
    """Return the clip that the slot's sentences are about."""
    pair = slot.task.gold if slot.stage == Stage.GOLD else None
    return pair.item.video_id if pair and pair.mismatched and pair.item else slot.video_id


def _caption_first(slot: Slot) -> bool | None:
    if slot.stage != Stage.VALIDATION:
        return None
    return caption_first(order_seed(slot.project_id), slot.task.foil_id, slot.index, slot.task.overlap)


def order_seed(project_id: int) -> str:
    """Return the seed of the orders of two texts. What was shown is stored with the lease and the vote."""
    return secret_seed("order-of-texts", project_id)


def _order_shown(slot: Slot) -> list[int] | None:
    if slot.stage != Stage.BASELINE:
        return None
    foils = slot.task.foils_asked
    if foils is None:
        own = Foil.objects.filter(item=slot.item_id).order_by("position").values_list("pk", flat=True)
        # One text alone would be no choice.
        foils = list(own.exclude(DROPPED_OUT)) or list(own)
    return order_shown(secret_seed("order-of-baseline", slot.project_id), slot.item_id, slot.person_id, foils)


def _current_guideline(slot: Slot) -> Guideline | None:
    if slot.stage in JUDGING:
        subtest = slot.task.item.subtest_id
        return _GUIDELINE.first(project=slot.project_id, stage=public_stage(slot.stage), subtest=subtest)
    asked = {"slot": slot.pk} if Stage(slot.stage) in SUBTEST_PATH else {}
    return _guideline_of(slot.stage).first(project=slot.project_id, **asked)


@cache
def _guideline_of(stage: str) -> Prepared[Guideline]:
    """The guideline of the slot's subtest, or that of the stage as a whole."""
    path = SUBTEST_PATH.get(Stage(stage))
    of_stage = Guideline.objects.filter(stage=public_stage(stage)).order_by(*NEWEST)
    if path is None:
        return Prepared(lambda project: of_stage.filter(project=project, subtest=None)[:1])
    return Prepared(
        lambda project, slot: of_stage.filter(
            Q(subtest=None) | Q(subtest=Subquery(Slot.objects.filter(pk=slot).values(path))), project=project
        )[:1]
    )


def heartbeat(person: User, token: str, *, now: datetime | None = None) -> datetime:
    """The new end of the lease. One that has expired is renewed too, as long as nobody has freed the slot.

    LeaseEnded otherwise; Http404 for a token that is not the person's. Not a change of state, so no audit row.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        lease = lease_for(person, token)
        expires = moment + timedelta(seconds=lease.slot.project.lease_seconds)
        running = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token, person=person)
        if not running.update(expires_at=expires, heartbeat_at=moment):
            raise LeaseEnded(
                _(
                    "Your time for this task is up. You can still submit. Your answer is saved, and counts "
                    "if nobody has taken the task."
                )
            )
    return expires


def release(person: User, token: str, *, reason: str = "", now: datetime | None = None) -> None:
    """Free the slot; the task comes back to this person only when there is nothing else. No harm where it is over.

    `reason`: one of SkipReason, or "" if the person gave none. AnnotationError for any other.
    """
    if reason and reason not in SkipReason.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(SkipReason.values)})
    run_in_transaction(lambda: _release(person, token, reason, now or timezone.now()))


def _release(person: User, token: str, reason: str, now: datetime) -> None:
    lease = lease_for(person, token)
    held = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token)
    slot = held.select_for_update(of=("self",), no_key=True).select_related("task", "project").first()
    if slot is not None:
        end_lease(slot, Ending.SKIPPED, now, person)
        Lease.objects.filter(pk=lease.pk, ending=Ending.SKIPPED).update(skip_reason=reason)


def decline_video(person: User, token: str, *, now: datetime | None = None) -> None:
    """The audit trail says that the piece was skipped, as of any skip, and not why. No harm where it is over."""
    run_in_transaction(lambda: _decline(person, token, now or timezone.now()))


def _decline(person: User, token: str, now: datetime) -> None:
    lease = lease_for(person, token)
    DeclinedVideo.objects.get_or_create(person=person, video_id=lease.slot.video_id)
    held = Slot.objects.filter(person=person, state=SlotState.LEASED, video=lease.slot.video_id)
    for slot in held.select_for_update(of=("self",), no_key=True).select_related("task", "project"):
        end_lease(slot, Ending.SKIPPED, now, person)


def save_draft(person: User, token: str, text: str, *, now: datetime | None = None) -> datetime:
    """Store the draft of the lease's task, over the one before; when that was.

    A lease that has run out still takes drafts, as it takes late work; LeaseEnded where the work was submitted under
    it already. AnnotationError for what is no draft, Http404 for a token that is not the person's. It changes no
    state, so there is no audit row.
    """
    payload = parse_draft(text)
    if payload is None:
        raise AnnotationError(
            _("The draft was not saved: it is too long or invalid. Shorten the text or reload the page.")
        )
    return run_in_transaction(lambda: _save(person, token, payload, now or timezone.now()))


def _save(person: User, token: str, payload: dict, now: datetime) -> datetime:
    serialize_writes(person)
    lease = lease_for(person, token)
    if lease.ending == Ending.SUBMITTED:
        raise LeaseEnded(_("This task was already submitted. There is no draft to save."))
    Draft.objects.update_or_create(
        person=person, task_id=lease.task_id, defaults={"payload": payload, "updated_at": now}
    )
    return now
