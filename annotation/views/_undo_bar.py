"""The line above the next piece that tells what became of the last one, and takes it back while that is possible."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import edit_for, object_answer_for, review_for, vote_for
from annotation.models import Edit, ObjectAnswer, Review, Stage, Vote, VoteState

Record = Edit | Review | Vote | ObjectAnswer
# A vote is one of a pair, or a choice of the human baseline.
GETTERS = {
    "edit": edit_for,
    "review": review_for,
    "vote": vote_for,
    "choice": vote_for,
    "objectanswer": object_answer_for,
}
# Row ids have at most so many digits; a longer number in the address is somebody's play.
MAX_ID_DIGITS = 18


@dataclass(frozen=True)
class Done:
    """`seconds` in which it can be undone; 0 where it cannot."""

    kind: str
    pk: int
    seconds: int
    note: str


def done_parameter(record: Record) -> str:
    """What the next page is told of the record in its address."""
    kind = "choice" if isinstance(record, Vote) and record.stage == Stage.BASELINE else record._meta.model_name
    return f"{kind}-{record.pk}"


def done_bar(request: HttpRequest) -> Done | None:
    """The person's record that `?done=` names; None for anything else. Http404 for somebody else's record."""
    kind, _dash, number = request.GET.get("done", "").partition("-")
    if kind not in GETTERS or not number.isdecimal() or len(number) > MAX_ID_DIGITS:
        return None
    return done_with(request, GETTERS[kind](request.user, int(number)))


def done_with(request: HttpRequest, record: Record) -> Done | None:
    """The same of a record in hand."""
    if getattr(record, "undone_at", None) or getattr(record, "state", None) == VoteState.UNDONE:
        return None
    age = (timezone.now() - record.created_at).total_seconds()
    left = round(request.project.undo_seconds - age) if record.slot_id else 0
    kind = done_parameter(record).partition("-")[0]
    return Done(kind, record.pk, max(0, left), _note(record)) if left > 0 or record.late else None


def _note(record: Record) -> str:
    if not record.late:
        return ""
    if record.slot_id:
        return _("It came after your time was over; its place was still free, so it counts.")
    return _("It came too late to count; it is kept.")
