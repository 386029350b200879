"""Store answers that no verdict uses: a choice of the human baseline, objects seen in a frame."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

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
    lease = submission.held_lease(sent, Stage.BASELINE, Role.ANNOTATOR)
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
    lease = submission.held_lease(sent, Stage.OBJECTS, Role.ANNOTATOR)
    frame = lease.task.frame
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
