"""Store answers that no verdict uses: a choice among the texts of an item, objects seen in a frame."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import ledger
from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, Choice, Involvement, Lease, ObjectAnswer, Stage, Vote, VoteState
from annotation.rules.baseline import CAPTION, chosen_text
from annotation.rules.objects import parse_answers
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User


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
