"""Store judgements: a vote, a choice of the human baseline, objects seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import judged_lease_for
from annotation.actions.leases import leasing
from annotation.actions.quality import standings
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.verdicts import apply_vote, lock
from annotation.errors import AnnotationError
from annotation.models import (
    CheckedFrame,
    Choice,
    Ending,
    GoldPair,
    Involvement,
    Lease,
    ObjectAnswer,
    SlotState,
    Stage,
    Standing,
    Vote,
    VoteState,
)
from annotation.rules.baseline import CAPTION, chosen_text
from annotation.rules.choosing import WORDS, parse_choice
from annotation.rules.objects import parse_answers
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role, User
from foilworks.core.projects.sql.prepared import Prepared, insert


def submit_vote(
    person: User,
    token: str,
    key: str,
    answer: str | int,
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
    lease: Lease | None = None,
) -> Vote:
    """Store the vote, once for each `key`; the order in the lease tells what "first" meant.

    A multiple-choice item is answered with the number of the true text, or with neither, both (several are true) or
    cannot_tell. The last vote of a pair gives its verdict, and the last pair the item's state. Late work counts if a
    slot is free, else it is stored as surplus; work of a paused person is excluded. A gold pair is stored alike, but
    has no verdict.
    `lease`: from judged_lease_for, if the caller has it. AnnotationError for an unknown answer or a second vote on the
    item.
    """
    held = lease or judged_lease_for(person, token)
    said = judgement_of(held, answer)
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds, held)
    return run_in_transaction(lambda: _submit_vote(sent, said))


@dataclass(frozen=True)
class Judgement:
    """The truth-coded `choice` of an answer; of several texts, `place` is that of the chosen one."""

    choice: str
    place: int | None = None


def judgement_of(lease: Lease, answer: str | int) -> Judgement:
    """Return what the answer says under this lease; AnnotationError if it says nothing."""
    order = lease.order_shown if lease.slot.stage == Stage.VALIDATION else None
    if order is None:
        shown = parse_answer(answer)
        if shown is None:
            raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
        return Judgement(truth_of(shown, bool(lease.caption_first)))
    found = parse_choice(order, answer)
    if found is None:
        raise AnnotationError(
            _("Answer with 1 to %(most)d or one of: %(list)s.") % {"most": len(order), "list": ", ".join(WORDS)}
        )
    return Judgement(*found)


def _submit_vote(sent: Submission, said: Judgement) -> Vote | Refused:
    lease = submission.get_open_lease(sent, Stage.VALIDATION, Role.VALIDATOR)
    # Gold has no item whose state could change. Its pair is locked instead: a withdrawal waits.
    item = lease.task.item
    if item is None:
        _LOCK_PAIR.first(pk=lease.task.gold_id)
    else:
        lock(item)
    mine = _mine(sent, lease)
    before = next((vote for vote in mine if vote.idempotency_key == sent.key), None)
    if before is not None:
        return before
    answered = any(vote.state != VoteState.UNDONE for vote in mine)
    standing = standings.locked(lease.standing_id)
    place = leasing.find_slot(lease, sent.now)
    if _is_paused(standing):
        place = _put_apart(place, sent)
    if place.slot is None:
        if answered:
            raise AnnotationError(_("You have already answered this item. Nothing was saved."))
        leasing.close(lease, sent.now)
        submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.JUDGED)
        vote, event = _record_vote(sent, lease, place, said, standing)
        audit.record(event)
        return vote
    refused = submission.check_eligibility(place.slot, sent, [lease.task.item_id] if answered else [])
    if refused is not None:
        return refused
    leasing.fill(place.slot, lease, sent.now)
    vote, event = _record_vote(sent, lease, place, said, standing)
    submission.involve(sent, place.slot, Involvement.Kind.JUDGED)
    if item is None:
        audit.record(event)
    else:
        apply_vote(item, place.slot.task, sent.person, sent.now, event)
    return vote


def _is_paused(standing: Standing | None) -> bool:
    return standing is not None and standing.state == Standing.State.PAUSED


def _put_apart(place: leasing.SlotToFill, sent: Submission) -> leasing.SlotToFill:
    """Free a paused person's slot: their work does not get one."""
    if place.slot is not None and place.slot.state == SlotState.LEASED:
        leasing.end_lease(place.slot, Ending.CANCELLED, sent.now, None)
    return leasing.SlotToFill(None, late=True)


_LOCK_PAIR = Prepared(lambda pk: GoldPair.objects.select_for_update(no_key=True).filter(pk=pk).values_list("use"))
_ON_ITEM = Prepared(
    lambda person, key, item: Vote.objects.filter(
        Q(idempotency_key=key) | Q(item=item, stage=Stage.VALIDATION) | Q(gold__item=item), person=person
    )
)


def _mine(sent: Submission, lease: Lease) -> list[Vote]:
    """Return the person's votes under the key, and those on the same item (any pair) or gold pair.

    An answer to gold about the same item counts too.
    """
    if lease.task.item_id is not None:
        return _ON_ITEM.all(person=sent.person.pk, key=sent.key, item=lease.task.item_id)
    return list(Vote.objects.filter(Q(idempotency_key=sent.key) | Q(gold=lease.task.gold_id), person=sent.person))


def _record_vote(
    sent: Submission, lease: Lease, place: leasing.SlotToFill, said: Judgement, standing: Standing | None
) -> tuple[Vote, AuditEvent]:
    """Return the stored vote, and its audit row for the caller to store."""
    vote = new_vote(sent, lease, place, said, standing)
    insert(vote)
    if standing is not None:
        standings.add_vote(standing, vote, sent.now)
    return vote, vote_event(sent, lease, vote)


def new_vote(
    sent: Submission, lease: Lease, place: leasing.SlotToFill, said: Judgement, standing: Standing | None
) -> Vote:
    """Return the unsaved vote. A paused person's is excluded, one without a slot is surplus."""
    task, state = lease.task, VoteState.COUNTED if place.slot else VoteState.SURPLUS
    if _is_paused(standing) and task.item_id:
        state = VoteState.SET_ASIDE
    return Vote(
        item=task.item,
        foil_id=task.foil_id,
        gold=task.gold,
        stage=lease.slot.stage,
        choice=said.choice,
        caption_first=lease.caption_first,
        order_shown=lease.order_shown,
        chosen_place=said.place,
        state=state,
        standing=standing,
        fast=standings.is_fast(standing, lease, sent.now) if standing else None,
        **submission.common_fields(sent, lease, place),
    )


def vote_event(sent: Submission, lease: Lease, vote: Vote) -> AuditEvent:
    """Return the unsaved audit row of a stored vote."""
    return audit.event(lease.slot.project, sent.person, "submit_vote", vote, to_state=vote.state, late=vote.late)


def submit_choice(
    person: User,
    token: str,
    key: str,
    answer: str | int,
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Vote:
    """Store the choice, once for each `key`; the order in the lease tells which text was chosen.

    It counts only for the baseline and does not change the item. Late work counts if a slot is free, else it is stored
    as surplus. AnnotationError for a number that was not shown, or a second choice on the item.
    """
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds)
    return run_in_transaction(lambda: _submit_choice(sent, answer))


def _submit_choice(sent: Submission, answer: str | int) -> Vote | Refused:
    lease = submission.get_open_lease(sent, Stage.BASELINE, Role.ANNOTATOR)
    chosen = chosen_text(lease.order_shown or [], answer)
    if chosen is None:
        raise AnnotationError(_("Answer with the number of one of the texts."))
    mine = Vote.objects.filter(person=sent.person)
    before = mine.filter(idempotency_key=sent.key).first()
    if before is not None:
        return before
    place = leasing.find_slot(lease, sent.now)
    if place.slot is None:
        if mine.filter(item=lease.task.item_id, stage=Stage.BASELINE).exclude(state=VoteState.UNDONE).exists():
            raise AnnotationError(_("You have already answered this item. Nothing was saved."))
        leasing.close(lease, sent.now)
        submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.JUDGED)
        return _record_choice(sent, lease, place, chosen)
    refused = submission.check_eligibility(place.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(place.slot, lease, sent.now)
    vote = _record_choice(sent, lease, place, chosen)
    submission.involve(sent, place.slot, Involvement.Kind.JUDGED)
    task_slots.finish_when_full(place.slot.task_id)
    return vote


def _record_choice(sent: Submission, lease: Lease, place: leasing.SlotToFill, chosen: int) -> Vote:
    order = lease.order_shown or []
    vote = Vote.objects.create(
        item_id=lease.task.item_id,
        foil_id=None if chosen == CAPTION else chosen,
        stage=Stage.BASELINE,
        choice=Choice.CAPTION if chosen == CAPTION else Choice.FOIL,
        caption_first=order[0] == CAPTION,
        order_shown=order,
        state=VoteState.COUNTED if place.slot else VoteState.SURPLUS,
        **submission.common_fields(sent, lease, place),
    )
    event = audit.event(lease.slot.project, sent.person, "submit_choice", vote, to_state=vote.state, late=place.late)
    audit.record(event)
    return vote


def submit_objects(
    person: User,
    token: str,
    key: str,
    answers: Mapping[str, str],
    *,
    seconds: Any = None,
    now: datetime | None = None,
) -> ObjectAnswer:
    """Store {"0": "yes" or "no", …}, an answer for each object, once for each `key`.

    Late work counts if a slot is free, else it is stored but not counted. AnnotationError if an object has no answer.
    """
    sent = Submission(person, token, key, now or timezone.now(), None, seconds)
    return run_in_transaction(lambda: _submit_objects(sent, answers))


def _submit_objects(sent: Submission, answers: Mapping[str, str]) -> ObjectAnswer | Refused:
    lease = submission.get_open_lease(sent, Stage.OBJECTS, Role.ANNOTATOR)
    frame = CheckedFrame.objects.get(pk=lease.task.frame_id)
    visible = parse_answers(answers, len(frame.objects_named))
    if visible is None:
        raise AnnotationError(_("Mark every object as visible or not visible."))
    mine = ObjectAnswer.objects.filter(person=sent.person)
    before = mine.filter(idempotency_key=sent.key).first()
    if before is not None:
        return before
    if mine.filter(frame=frame, undone_at=None).exists():
        raise AnnotationError(_("You have already answered this frame. Nothing was saved."))
    place = leasing.find_slot(lease, sent.now)
    if place.slot is None:
        leasing.close(lease, sent.now)
        return _record_objects(sent, lease, place, frame, visible)
    refused = submission.check_eligibility(place.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(place.slot, lease, sent.now)
    answer = _record_objects(sent, lease, place, frame, visible)
    task_slots.finish_when_full(place.slot.task_id)
    return answer


def _record_objects(
    sent: Submission, lease: Lease, place: leasing.SlotToFill, frame: CheckedFrame, visible: list[bool]
) -> ObjectAnswer:
    answer = ObjectAnswer.objects.create(frame=frame, visible=visible, **submission.common_fields(sent, lease, place))
    state = "counted" if place.slot else "surplus"
    project = lease.slot.project
    audit.record(audit.event(project, sent.person, "submit_objects", answer, to_state=state, late=place.late))
    return answer
