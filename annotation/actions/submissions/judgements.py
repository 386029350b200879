"""Store a vote and lease the next task to judge in the same transaction; store answers that no verdict uses.

A vote on time, of a person whom no rule keeps from the item, takes twelve statements with the next task. `hurdle` (see
annotation.queries.held) and a lease that has ended are the signs that more must be read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import ledger
from annotation.actions.claims import gold_slots
from annotation.actions.claims.claim import NextSlot, next_slot, open_next
from annotation.actions.leases import leasing
from annotation.actions.quality import standings
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import StoredWork, Submission
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.verdicts import Counts, Pair, apply_vote, votes_and_pairs
from annotation.errors import AnnotationError
from annotation.models import (
    CheckedFrame,
    Choice,
    Ending,
    Involvement,
    Lease,
    ObjectAnswer,
    SlotState,
    Stage,
    Standing,
    Vote,
    VoteState,
)
from annotation.queries.assignments import tasks_left
from annotation.queries.cards import Claim
from annotation.queries.held import GOLD, PAIRS
from annotation.queries.quality import why_not_admitted
from annotation.rules.baseline import CAPTION, chosen_text
from annotation.rules.choosing import WORDS, parse_choice
from annotation.rules.objects import parse_answers
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.core.projects.sql.fast_inserts import insert


def submit_vote(
    person: User,
    token: str,
    key: str,
    answer: str | int,
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Vote:
    """Store the vote, once for each `key`; the order in the lease tells what "first" meant.

    A multiple-choice item is answered with the number of the true text, or with neither, both (several are true) or
    cannot_tell. The last vote of a pair gives its verdict, and the last pair the item's state. Late work counts if a
    slot is free, else it is stored as surplus; work of a paused person is excluded. A gold pair is stored alike, but
    has no verdict. AnnotationError for an unknown answer or a second vote on the item.
    """
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds)
    return judge_and_claim(sent, answer, continues=False).record


def judge_and_claim(sent: Submission, answer: str | int, *, continues: bool = True) -> StoredWork[Vote]:
    """Store the vote as `submit_vote` does. If it `continues`, lease gold or the offered slot as the next task.

    If neither is available, `claim` finds another task.
    """
    attempt = count()
    # The next slot may be what conflicts: a repetition stores the vote alone.
    return run_in_transaction(lambda: _submit(sent, answer, continues=continues and next(attempt) == 0))


@dataclass(frozen=True)
class Judgement:
    """The truth-coded `choice` of an answer; of several texts, `place` is that of the chosen one."""

    choice: str
    place: int | None = None


def judgement_of(lease: Lease, answer: str | int) -> Judgement:
    """Return what the answer says under this lease; AnnotationError if it says nothing."""
    order = lease.order_shown if lease.slot.stage == Stage.VALIDATION else None
    if order is None:
        shown_answer = parse_answer(answer)
        if shown_answer is None:
            raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
        return Judgement(truth_of(shown_answer, bool(lease.caption_first)))
    choice_and_position = parse_choice(order, answer)
    if choice_and_position is None:
        raise AnnotationError(
            _("Answer with 1 to %(most)d or one of: %(list)s.") % {"most": len(order), "list": ", ".join(WORDS)}
        )
    return Judgement(*choice_and_position)


def _submit(sent: Submission, answer: str | int, *, continues: bool) -> StoredWork[Vote] | Refused:
    lease = submission.held_lease(sent, Stage.VALIDATION, Role.VALIDATOR)
    judgement = judgement_of(lease, answer)
    unusual, counted = _read(sent, lease)
    own_votes = _mine(sent, lease) if unusual else []
    before = next((vote for vote in own_votes if vote.idempotency_key == sent.key), None)
    if before is not None:
        return StoredWork(before, lease)
    answered = any(vote.state != VoteState.UNDONE for vote in own_votes)
    slot = leasing.find_slot(lease, sent.now)
    if _is_paused(lease.standing):
        slot = _put_apart(slot, sent)
    if slot.slot is None and answered:
        raise AnnotationError(_("You have already answered this item. Nothing was saved."))
    if slot.slot is not None and unusual:
        refused = submission.check_eligibility(slot.slot, sent, [lease.task.item_id] if answered else [])
        if refused is not None:
            return refused
    following = None
    if continues and slot.slot is not None and not slot.late and not unusual:
        following = _following(sent, lease)
    with audit.in_one_statement():
        return _store(sent, lease, slot, judgement, counted, following)


def _read(sent: Submission, lease: Lease) -> tuple[bool, tuple[Counts, dict[int, Pair]] | None]:
    """Return whether more must be read, and the item's counted votes with its pairs; None for gold."""
    slot, task = lease.slot, lease.task
    whose = {
        "person": sent.person.pk,
        "project": slot.project_id,
        "video": slot.video_id,
        "slot": slot.pk,
        "key": sent.key,
        "now": sent.now,
    }
    rows = GOLD.all(pair=task.gold_id, **whose) if task.item_id is None else PAIRS.all(item=task.item_id, **whose)
    unusual = any(hurdle for hurdle, *_pair in rows)
    return unusual, None if task.item_id is None else votes_and_pairs(pair for _hurdle, *pair in rows)


def _following(sent: Submission, lease: Lease) -> NextSlot | None:
    """Return the next slot, locked, if the person may go on at once."""
    project, standing = lease.slot.project, lease.standing
    policy = getattr(project, "quality", None)
    admitted = policy is None or (standing is not None and why_not_admitted(policy, standing) is None)
    if not admitted or project.archived_at is not None:
        return None
    # This answer is not counted yet.
    left = tasks_left(sent.person, project, Stage.VALIDATION) if lease.assigned else None
    if left is not None and left < 2:
        return None
    if standing is not None:
        gold_slots.fill_up(standing, sent.person)
    return next_slot(sent.person, project, Stage.VALIDATION, standing, sent.now, preferred=lease.upcoming_slot)


def _store(
    sent: Submission,
    lease: Lease,
    slot_to_fill: leasing.SlotToFill,
    judgement: Judgement,
    counted: tuple[Counts, dict[int, Pair]] | None,
    following: NextSlot | None,
) -> StoredWork[Vote]:
    vote = _new_vote(sent, lease, slot_to_fill, judgement)
    gold_next = None if following is None else following.slot.stage == Stage.GOLD
    counts_locked = lease.standing_id is not None and not standings.count_judgement(vote, gold_next=gold_next)
    if counts_locked:
        # Others have just changed the counts, or these pause the person: both needs the locked row.
        following, lease.standing = None, standings.locked(lease.standing_id)
        slot_to_fill = _put_apart(slot_to_fill, sent) if _is_paused(lease.standing) else slot_to_fill
        vote = _new_vote(sent, lease, slot_to_fill, judgement)
    claimed = _fill_and_open(sent, lease, slot_to_fill, following)
    insert(vote)
    ledger.book(vote, lease.slot.project, lease.slot.stage)
    if counts_locked:
        standings.add_vote(vote, sent.now)
    submission.involve(sent, slot_to_fill.slot or submission.slot_with_task(lease), Involvement.Kind.JUDGED)
    project = lease.slot.project
    event = audit.event(project, sent.person, "submit_vote", vote, to_state=vote.state, late=vote.late)
    if counted is None or slot_to_fill.slot is None:
        audit.record(event)
    else:
        counts, pairs = counted
        counts.setdefault(vote.foil_id, Counter())[vote.choice] += 1
        apply_vote(lease.task.item, lease.task, sent.person, sent.now, event, read=(counts, pairs))
    return StoredWork(vote, lease, claimed)


def _fill_and_open(
    sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, following: NextSlot | None
) -> Claim | None:
    """End the lease and fill its slot, if it has one; lease the next one in the same statements."""
    if following is not None:
        return open_next(following, sent.person, lease.slot.project, lease.standing, sent.now, lease)
    if slot_to_fill.slot is None:
        leasing.close(lease, sent.now)
    else:
        leasing.fill(slot_to_fill.slot, lease, sent.now)
    return None


def _is_paused(standing: Standing | None) -> bool:
    return standing is not None and standing.state == Standing.State.PAUSED


def _put_apart(slot_to_fill: leasing.SlotToFill, sent: Submission) -> leasing.SlotToFill:
    """Free a paused person's slot: their work does not get one."""
    if slot_to_fill.slot is not None and slot_to_fill.slot.state == SlotState.LEASED:
        leasing.end_lease(slot_to_fill.slot, Ending.CANCELLED, sent.now, None)
    return leasing.SlotToFill(None, late=True)


def _mine(sent: Submission, lease: Lease) -> list[Vote]:
    """Return the person's votes under the key, and those on the same item (any pair) or gold pair.

    An answer to gold about the same item counts too.
    """
    task = lease.task
    same = Q(gold=task.gold_id)
    if task.item_id is not None:
        same = Q(item=task.item_id, stage=Stage.VALIDATION) | Q(gold__item=task.item_id)
    return list(Vote.objects.filter(Q(idempotency_key=sent.key) | same, person=sent.person))


def _new_vote(sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, judgement: Judgement) -> Vote:
    """Return the unsaved vote. A paused person's is excluded, one without a slot is surplus."""
    task, standing, state = lease.task, lease.standing, VoteState.COUNTED if slot_to_fill.slot else VoteState.SURPLUS
    if _is_paused(standing) and task.item_id:
        state = VoteState.SET_ASIDE
    return Vote(
        item=task.item,
        foil_id=task.foil_id,
        gold=task.gold,
        stage=lease.slot.stage,
        choice=judgement.choice,
        caption_first=lease.caption_first,
        order_shown=lease.order_shown,
        chosen_place=judgement.place,
        state=state,
        standing=standing,
        fast=standings.is_fast(standing, lease, sent.now) if standing else None,
        **submission.common_fields(sent, lease, slot_to_fill),
    )


def submit_choice(
    person: User,
    token: str,
    key: str,
    answer: str | int,
    *,
    stage: str = Stage.BASELINE,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Vote:
    """Store the choice, once for each `key`; the order in the lease tells which text was chosen.

    It counts only for its study and does not change the item. Late work counts if a slot is free, else it is stored
    as surplus. AnnotationError for a number that was not shown, or a second choice on the item.
    """
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds)
    return run_in_transaction(lambda: _submit_choice(sent, answer, stage))


def _submit_choice(sent: Submission, answer: str | int, stage: str) -> Vote | Refused:
    lease = submission.held_lease(sent, stage, Role.ANNOTATOR)
    chosen_foil = chosen_text(lease.order_shown or [], answer)
    if chosen_foil is None:
        raise AnnotationError(_("Answer with the number of one of the texts."))
    own_votes = Vote.objects.filter(person=sent.person)
    before = own_votes.filter(idempotency_key=sent.key).first()
    if before is not None:
        return before
    slot_to_fill = leasing.find_slot(lease, sent.now)
    if slot_to_fill.slot is None:
        if own_votes.filter(item=lease.task.item_id, stage=stage).exclude(state=VoteState.UNDONE).exists():
            raise AnnotationError(_("You have already answered this item. Nothing was saved."))
        leasing.close(lease, sent.now)
        submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.JUDGED)
        return _record_choice(sent, lease, slot_to_fill, chosen_foil)
    refused = submission.check_eligibility(slot_to_fill.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(slot_to_fill.slot, lease, sent.now)
    vote = _record_choice(sent, lease, slot_to_fill, chosen_foil)
    submission.involve(sent, slot_to_fill.slot, Involvement.Kind.JUDGED)
    task_slots.finish_when_full(slot_to_fill.slot.task_id)
    return vote


def _record_choice(sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, chosen_foil: int) -> Vote:
    order = lease.order_shown or []
    vote = Vote.objects.create(
        item_id=lease.task.item_id,
        foil_id=None if chosen_foil == CAPTION else chosen_foil,
        stage=lease.slot.stage,
        choice=Choice.CAPTION if chosen_foil == CAPTION else Choice.FOIL,
        caption_first=order[0] == CAPTION,
        order_shown=order,
        state=VoteState.COUNTED if slot_to_fill.slot else VoteState.SURPLUS,
        **submission.common_fields(sent, lease, slot_to_fill),
    )
    ledger.book(vote, lease.slot.project, vote.stage)
    event = audit.event(
        lease.slot.project, sent.person, "submit_choice", vote, to_state=vote.state, late=slot_to_fill.late
    )
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
    lease = submission.held_lease(sent, Stage.OBJECTS, Role.ANNOTATOR)
    frame = lease.task.frame
    visible = parse_answers(answers, len(frame.objects_named))
    if visible is None:
        raise AnnotationError(_("Mark every object as visible or not visible."))
    own_answers = ObjectAnswer.objects.filter(person=sent.person)
    before = own_answers.filter(idempotency_key=sent.key).first()
    if before is not None:
        return before
    if own_answers.filter(frame=frame, undone_at=None).exists():
        raise AnnotationError(_("You have already answered this frame. Nothing was saved."))
    slot_to_fill = leasing.find_slot(lease, sent.now)
    if slot_to_fill.slot is None:
        leasing.close(lease, sent.now)
        return _record_objects(sent, lease, slot_to_fill, frame, visible)
    refused = submission.check_eligibility(slot_to_fill.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(slot_to_fill.slot, lease, sent.now)
    answer = _record_objects(sent, lease, slot_to_fill, frame, visible)
    task_slots.finish_when_full(slot_to_fill.slot.task_id)
    return answer


def _record_objects(
    sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, frame: CheckedFrame, visible: list[bool]
) -> ObjectAnswer:
    answer = ObjectAnswer.objects.create(
        frame=frame, visible=visible, **submission.common_fields(sent, lease, slot_to_fill)
    )
    state = "counted" if slot_to_fill.slot else "surplus"
    project = lease.slot.project
    ledger.book(answer, project, Stage.OBJECTS)
    audit.record(audit.event(project, sent.person, "submit_objects", answer, to_state=state, late=slot_to_fill.late))
    return answer
