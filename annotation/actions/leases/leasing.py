"""Take, renew and end leases; skip a task; save a draft."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.db import transaction
from django.db.models import BigIntegerField, Case, F, IntegerField, Q, QuerySet, Value, When
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
from annotation.models.stages import CHOICES, public_stage
from annotation.queries.eligibility import AS_STARTED, FRESH_PLACE, JUDGING
from annotation.queries.lookahead import NEWEST
from annotation.rules import choosing, ordering
from annotation.rules.baseline import order_shown
from annotation.rules.drafts import parse_draft
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import DROPPED_OUT, Foil
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User
from foilworks.core.projects.sql.fast_inserts import insert, insert_or_update
from foilworks.core.projects.sql.prepared_queries import Prepared, PreparedUpdate
from generation.models import Candidate

# The path to a slot's subtest; frames of an object check have none.
SUBTEST_PATH = {
    Stage.EDIT: "task__group__run__subtest",
    Stage.REVIEW: "task__candidate__group__run__subtest",
    Stage.VALIDATION: "item__subtest",
    Stage.BASELINE: "item__subtest",
    Stage.UNSEEN: "item__subtest",
    Stage.GOLD: "task__gold__subtest",
}
# Expired leases that one claim frees; the next claim frees more.
SWEEP_LIMIT = 200
_WAITING = Prepared(
    lambda group: Candidate.objects.filter(group=group, state__in=[CandidateState.QUEUED, CandidateState.RETURNED])
)
# Candidates that an editor of the group holds.
IN_HAND = Prepared(lambda group: Candidate.objects.filter(group=group, state=CandidateState.EDITING))
_DRAFT = Prepared(lambda task, person: Draft.objects.filter(task=task, person=person).values_list("pk"))
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


def _passed_on(
    old: int, new: int, task: int, token: str, person: int, now: datetime, expires: datetime
) -> tuple[QuerySet, dict]:
    """Fill the old slot, lease the new one, and move the free slots of its task to the started ones.

    Others may have locked some of these: a holder may wait for the new one.
    """
    begun = Q(task=task) & FRESH_PLACE
    locked_slots = Slot.objects.filter(Q(pk=old) | Q(pk=new) | begun).select_for_update(skip_locked=True, no_key=True)
    is_old, is_new = When(pk=old, then=Value(SlotState.DONE)), When(pk=new, then=Value(SlotState.LEASED))
    return Slot.objects.filter(pk__in=locked_slots.values("pk")), {
        "state": Case(is_old, is_new, default=F("state")),
        "person": Case(
            When(pk=old, then=Value(person)),
            When(pk=new, then=Value(person)),
            default=F("person"),
            output_field=BigIntegerField(),
        ),
        "token": Case(When(pk=old, then=Value("")), When(pk=new, then=Value(token)), default=F("token")),
        "leased_at": Case(When(pk=new, then=Value(now)), default=F("leased_at")),
        "expires_at": Case(When(pk=old, then=None), When(pk=new, then=Value(expires)), default=F("expires_at")),
        "heartbeat_at": Case(When(pk=new, then=Value(now)), default=F("heartbeat_at")),
        "priority": Case(When(begun & ~Q(pk=old), then=AS_STARTED), default=F("priority")),
    }


_PASS_ON = PreparedUpdate(_passed_on)


@dataclass(frozen=True)
class SlotToFill:
    """The slot that a submit fills, or None if the work came too late to count."""

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
    """Lease the slot to the person, for an edit with its candidates. Conflict if its state is no longer `was`.

    `upcoming`: the slot offered next. `standing`: the row that counts the judgement. `first`: whether the caption is
    first, if the slot does not decide it. `since`: when the person first got the task, if it comes back to them. The
    slot comes with its task and project. IntegrityError if the person already has a slot in the item.
    """
    lease = new_lease(slot, person, now, first)
    if _TAKE(pk=slot.pk, was=was, person=person.pk, token=slot.token, now=now, expires=slot.expires_at) != 1:
        raise Conflict(_("Someone else has taken this task. Start the next one."))
    lease.guideline, lease.standing, lease.upcoming_slot = _current_guideline(slot), standing, upcoming
    lease.leased_at = since or now
    insert(lease)
    if slot.stage == Stage.EDIT:
        take_candidates(slot, person)
    audit.record(audit.event(slot.project, person, "lease", slot, from_state=was, to_state=SlotState.LEASED))
    return lease


def new_lease(slot: Slot, person: User, now: datetime, first: bool | None = None) -> Lease:
    """Return the unsaved lease of a slot, which is leased in memory; `first` as for `open_lease`."""
    slot.state, slot.person, slot.token = SlotState.LEASED, person, secrets.token_urlsafe(32)
    slot.leased_at, slot.heartbeat_at = now, now
    slot.expires_at = now + timedelta(seconds=slot.project.lease_seconds)
    caption_first = _caption_first(slot) if first is None else first
    return Lease(
        slot=slot,
        task_id=slot.task_id,
        person=person,
        caption_video_id=_caption_video(slot),
        token=slot.token,
        caption_first=caption_first,
        order_shown=_order_shown(slot, caption_first),
        leased_at=now,
    )


def take_candidates(slot: Slot, person: User) -> None:
    """Move the slot's waiting candidates into the editor's lease."""
    waiting = _WAITING.all(group=slot.task.group_id)
    for state in (CandidateState.QUEUED, CandidateState.RETURNED):
        of_state = [candidate for candidate in waiting if candidate.state == state]
        move_candidates(of_state, "claim", slot.project, person, claimed_from=state)


def return_candidates(slot: Slot, actor: User | None, reason: str) -> None:
    """Return candidates that the editor still holds to their state before the claim."""
    in_hand = IN_HAND.all(group=slot.task.group_id)
    returned = [candidate for candidate in in_hand if candidate.claimed_from == CandidateState.RETURNED]
    move_candidates(returned, "release_returned", slot.project, actor, reason)
    move_candidates([c for c in in_hand if c not in returned], "release", slot.project, actor, reason)


def end_lease(slot: Slot, ending: str, now: datetime, actor: User | None) -> None:
    """Free a leased slot; does nothing if it is no longer leased under its loaded token."""
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
    """Return the slot that work under this lease may fill: its own, or a free one if the lease has ended.

    The lease comes from `submission.held_lease`, which locks its slot. A newer lease of the person on the same task is
    equivalent: it is the same work. AnnotationError if something was already submitted under this lease.
    """
    if lease.ending == Ending.SUBMITTED:
        raise AnnotationError(_("This task was already submitted. Start the next one."))
    own = lease.slot
    if own.state == SlotState.LEASED and own.token == lease.token and lease.task.state == TaskState.OPEN:
        return SlotToFill(own, late=own.expires_at <= now)
    locked = Slot.objects.select_for_update(of=("self",), no_key=True)
    slots = locked.select_related("task__candidate", "task__item__candidate_group", "project", "video")
    of_task = slots.filter(task=lease.task_id, task__state=TaskState.OPEN)
    if lease.slot.stage == Stage.GOLD:
        # Each of these slots belongs to one person.
        of_task = of_task.filter(pk=lease.slot_id)
    reserved = Q(reserved_until__gt=now) & ~Q(reserved_for=lease.person_id)
    takeable = Q(state=SlotState.LEASED, person=lease.person_id) | (Q(state=SlotState.FREE) & ~reserved)
    slot = of_task.filter(takeable).order_by(_nearest(lease), "index").first()
    if slot is not None and _holds_other_slot(lease, slot):
        slot = None
    return SlotToFill(slot, late=True)


def fill(slot: Slot, lease: Lease, now: datetime) -> None:
    """Fill the slot; its lease, and the lease of the work, end as submitted."""
    if _FILL(pk=slot.pk, state=slot.state, token=slot.token, person=lease.person_id) != 1:
        raise Conflict(_("Someone else has just taken this task. Submit again."))
    slot.state, slot.person_id = SlotState.DONE, lease.person_id
    _SUBMITTED(pk=lease.pk, slot=slot.pk, now=now)
    _end_draft(lease)


def open_judgement(new: Lease, ended: Lease | None) -> None:
    """Store the lease of a slot to judge, which the caller has locked and which has `guideline_now`.

    `ended`: the lease of the person's last judgement, which fills its slot in the same statements. IntegrityError if
    the person already has a slot in the item.
    """
    slot, now = new.slot, new.leased_at
    if slot.guideline_now is not None:
        same = ended is not None and slot.guideline_now == ended.guideline_id
        new.guideline = ended.guideline if same else Guideline.objects.get(pk=slot.guideline_now)
    task = slot.task_id if slot.stage != Stage.GOLD and slot.task.overlap > 1 else 0
    slots = {"old": ended.slot_id if ended is not None else 0, "new": slot.pk, "task": task}
    if _PASS_ON(**slots, token=new.token, person=new.person_id, now=now, expires=slot.expires_at) < 1 + bool(ended):
        raise Conflict(_("Someone else has just taken this task. Submit again."))
    if ended is None:
        insert(new)
    else:
        ended.slot.state, ended.ending, ended.ended_at = SlotState.DONE, Ending.SUBMITTED, now
        insert_or_update(ended, new, known_by="token", changed=("ending", "ended_at"))
    audit.record(
        audit.event(slot.project, new.person, "lease", slot, from_state=SlotState.FREE, to_state=SlotState.LEASED)
    )


def close(lease: Lease, now: datetime) -> None:
    """End the lease: nothing more can be submitted under it."""
    Lease.objects.filter(pk=lease.pk).update(ending=Ending.SUBMITTED, ended_at=now)
    _end_draft(lease)


def _end_draft(lease: Lease) -> None:
    # An answer by keyboard has no draft.
    whose = {"task": lease.task_id, "person": lease.person_id}
    if public_stage(lease.slot.stage) not in JUDGING and _DRAFT.first(**whose) is not None:
        Draft.objects.filter(**whose).delete()


def _nearest(lease: Lease) -> Case:
    return Case(
        When(person=lease.person_id, then=Value(0)),
        When(pk=lease.slot_id, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )


def _holds_other_slot(lease: Lease, slot: Slot) -> bool:
    """Return whether the person has another slot in the item: one per person and item."""
    if slot.stage not in JUDGING:
        return False
    own_slots = Slot.objects.filter(item=slot.item_id, stage=slot.stage, person=lease.person_id)
    return own_slots.exclude(pk=slot.pk).exists()


def _caption_video(slot: Slot) -> int:
    """Return the clip that the slot's sentences are about."""
    pair = slot.task.gold if slot.stage == Stage.GOLD else None
    return pair.item.video_id if pair and pair.mismatched and pair.item else slot.video_id


def _caption_first(slot: Slot) -> bool | None:
    if slot.stage != Stage.VALIDATION:
        return None
    return ordering.caption_first(order_seed(slot.project_id), slot.task.foil_id, slot.index, slot.task.overlap)


def order_seed(project_id: int) -> str:
    """Return the seed of the orders of two texts. What was shown is stored with the lease and the vote."""
    return secret_seed("order-of-texts", project_id)


def _order_shown(slot: Slot, first: bool | None) -> list[int] | None:
    foils = slot.task.foils_asked
    if slot.stage == Stage.VALIDATION and foils:
        seed = secret_seed("order-of-choices", slot.project_id)
        return choosing.order_shown(seed, slot.item_id, slot.person_id, foils, slot.task.foil_id, bool(first))
    if slot.stage not in CHOICES:
        return None
    if foils is None:
        own = Foil.objects.filter(item=slot.item_id).order_by("position").values_list("pk", flat=True)
        # One text would not be a choice.
        foils = list(own.exclude(DROPPED_OUT)) or list(own)
    return order_shown(secret_seed(f"order-of-{slot.stage}", slot.project_id), slot.item_id, slot.person_id, foils)


def _current_guideline(slot: Slot) -> Guideline | None:
    subtest_filter = {"slot": slot.pk} if Stage(slot.stage) in SUBTEST_PATH else {}
    return _guideline_of(slot.stage).first(project=slot.project_id, **subtest_filter)


@cache
def _guideline_of(stage: str) -> Prepared[Guideline]:
    """Return the guideline of the slot's subtest, or that of the stage."""
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
    """Renew the lease and return its new end. An expired one is renewed if nobody has freed the slot.

    LeaseEnded if it was freed; Http404 for a token that is not the person's. Not a change of state, so no audit row.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        lease = lease_for(person, token)
        expires = moment + timedelta(seconds=lease.slot.project.lease_seconds)
        running = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token, person=person)
        if not running.update(expires_at=expires, heartbeat_at=moment):
            raise LeaseEnded(
                _(
                    "Your time for this task is up. You can still submit. Your answer will be saved. It counts if "
                    "nobody else has taken the task."
                )
            )
    return expires


def release(person: User, token: str, *, reason: str = "", now: datetime | None = None) -> None:
    """Free the slot; this person gets the task again only after all others. Does nothing if the lease has ended.

    `reason`: one of SkipReason, or "" if the person gave none. AnnotationError for any other.
    """
    if reason and reason not in SkipReason.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(SkipReason.values)})
    run_in_transaction(lambda: _release(person, token, reason, now or timezone.now()))


def _release(person: User, token: str, reason: str, now: datetime) -> None:
    lease = lease_for(person, token)
    leased = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token)
    slot = leased.select_for_update(of=("self",), no_key=True).select_related("task", "project").first()
    if slot is not None:
        end_lease(slot, Ending.SKIPPED, now, person)
        Lease.objects.filter(pk=lease.pk, ending=Ending.SKIPPED).update(skip_reason=reason)


def decline_video(person: User, token: str, *, now: datetime | None = None) -> None:
    """Skip the task and decline its video.

    The audit trail contains a skip like any other, without the reason. Does nothing if the lease has ended.
    """
    run_in_transaction(lambda: _decline(person, token, now or timezone.now()))


def _decline(person: User, token: str, now: datetime) -> None:
    lease = lease_for(person, token)
    DeclinedVideo.objects.get_or_create(person=person, video_id=lease.slot.video_id)
    leased = Slot.objects.filter(person=person, state=SlotState.LEASED, video=lease.slot.video_id)
    for slot in leased.select_for_update(of=("self",), no_key=True).select_related("task", "project"):
        end_lease(slot, Ending.SKIPPED, now, person)


def save_draft(person: User, token: str, text: str, *, now: datetime | None = None) -> datetime:
    """Store the draft of the lease's task in place of an earlier one; return the time.

    An expired lease still accepts drafts, as it accepts late work; LeaseEnded if the work was already submitted.
    AnnotationError for an invalid draft, Http404 for a token that is not the person's. It changes no state, so there is
    no audit row.
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
