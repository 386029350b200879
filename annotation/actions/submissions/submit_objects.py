"""A person says which of the objects extracted from a frame are to be seen in it."""

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
from annotation.models import CheckedFrame, Lease, ObjectAnswer, Stage
from annotation.rules.objects import parse_answers
from annotation.transactions import Refused, run_in_transaction
from projects import audit
from projects.models import Role, User


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

    Late work counts if a place is free, else it is kept apart. AnnotationError where an object has no answer.
    """
    sent = Submission(person, token, key, now or timezone.now(), None, seconds)
    return run_in_transaction(lambda: _submit(sent, answers))


def _submit(sent: Submission, answers: Mapping[str, str]) -> ObjectAnswer | Refused:
    lease = submission.get_open_lease(sent, Stage.OBJECTS, Role.ANNOTATOR)
    frame = CheckedFrame.objects.get(pk=lease.task.frame_id)
    visible = parse_answers(answers, len(frame.objects_named))
    if visible is None:
        raise AnnotationError(_("Say of every object whether it is visible."))
    mine = ObjectAnswer.objects.filter(person=sent.person)
    before = mine.filter(idempotency_key=sent.key).first()
    if before is not None:
        return before
    if mine.filter(frame=frame, undone_at=None).exists():
        raise AnnotationError(_("You have answered this frame already; nothing was added."))
    place = leasing.find_slot(lease, sent.now)
    if place.slot is None:
        leasing.close(lease, sent.now)
        return _record(sent, lease, place, frame, visible)
    refused = submission.check_eligibility(place.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(place.slot, lease, sent.now)
    answer = _record(sent, lease, place, frame, visible)
    task_slots.finish_when_full(place.slot.task_id)
    return answer


def _record(
    sent: Submission, lease: Lease, place: leasing.SlotToFill, frame: CheckedFrame, visible: list[bool]
) -> ObjectAnswer:
    answer = ObjectAnswer.objects.create(frame=frame, visible=visible, **submission.common_fields(sent, lease, place))
    state = "counted" if place.slot else "surplus"
    project = lease.slot.project
    audit.record(audit.event(project, sent.person, "submit_objects", answer, to_state=state, late=place.late))
    return answer
