"""A person takes back the last answer on a frame."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import object_answer_for
from annotation.actions.undo import undo
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import ObjectAnswer, ObjectError
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Role, User


def undo_objects(person: User, answer_id: int, *, now: datetime | None = None) -> Claim:
    """The answer is kept as undone and counts no longer; its place is leased to the person again.

    AnnotationError after the project's undo_seconds, or once a researcher has classed an object of the frame.
    """
    return run_in_transaction(lambda: _undo_objects(person, answer_id, now or timezone.now()))


def _undo_objects(person: User, answer_id: int, now: datetime) -> Claim:
    answer = object_answer_for(person, answer_id)
    if answer.undone_at is not None:
        return undo.running_lease(answer.slot, person)
    undo.in_time(answer, person, Role.ANNOTATOR, now)
    if ObjectError.objects.filter(frame=answer.frame_id).exists():
        raise AnnotationError(_("A researcher has gone through this frame since; ask them to set it right."))
    if ObjectAnswer.objects.filter(pk=answer.pk, undone_at=None).update(undone_at=now) != 1:
        raise AnnotationError(_("This was undone before."))
    audit.record(
        audit.event(answer.slot.project, person, "undo_objects", answer, from_state="counted", to_state="undone")
    )
    return undo.lease_again(answer.slot, person, now)
