"""A reviewer takes back the last decision while nothing has followed from it."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import review_for
from annotation.actions.undo import undo
from annotation.actions.workflow.assembly import take_apart
from annotation.actions.workflow.groups import advance, locked_group
from annotation.actions.workflow.transitions import move_candidates
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Review, SlotState, Stage, Task, TaskState
from annotation.transactions import run_in_transaction
from corpus.models import GIVEN_UP
from corpus.rules.states import CandidateState
from generation.models import Candidate
from projects import audit
from projects.models import Project, Role, User


def undo_review(person: User, review_id: int, *, now: datetime | None = None) -> Claim:
    """The review is marked undone and its candidate is in review again, in this person's hands.

    An item that it completed is taken apart. AnnotationError after the project's undo_seconds, or once somebody has
    taken what followed: the returned piece, the item's validation.
    """
    return run_in_transaction(lambda: _undo_review(person, review_id, now or timezone.now()))


def _undo_review(person: User, review_id: int, now: datetime) -> Claim:
    group = locked_group(review_for(person, review_id).candidate.group_id)
    review = review_for(person, review_id)
    if review.undone_at is not None:
        return undo.running_lease(review.slot, person)
    undo.in_time(review, person, Role.REVIEWER, now)
    project = group.run.project
    # The group may have been waited for while its caption was given up.
    group.caption.refresh_from_db(fields=["doubt_settled"])
    if group.caption.doubt_settled in GIVEN_UP:
        raise AnnotationError(_("The caption was corrected since, so there is nothing to take back any more."))
    if review.second:
        return _mark_undone(review, project, person, now)
    _require_nothing_followed(review)
    if group.item_id is not None:
        take_apart(group, project, person)
    if review.child_id is not None:
        move_candidates([Candidate.objects.get(pk=review.child_id)], "withdraw", project, person, "undone")
    move_candidates([Candidate.objects.get(pk=review.candidate_id)], "undo_review", project, person, "undone")
    claim = _mark_undone(review, project, person, now)
    advance(group, person, now)
    return claim


def _mark_undone(review: Review, project: Project, person: User, now: datetime) -> Claim:
    Review.objects.filter(pk=review.pk).update(undone_at=now)
    was = "compared" if review.second else "counted"
    audit.record(audit.event(project, person, "undo_review", review, from_state=was, to_state="undone"))
    return undo.lease_again(review.slot, person, now)


def _require_nothing_followed(review: Review) -> None:
    """The candidate is where this review put it, and nobody holds the editing that it asked for."""
    expected = {
        "accept": CandidateState.ACCEPTED,
        "send_back": CandidateState.RETURNED,
        "drop": CandidateState.DROPPED,
        "fix": CandidateState.SUPERSEDED,
    }
    candidate = review.candidate
    group_edits = Task.objects.filter(group=candidate.group_id, stage=Stage.EDIT, state=TaskState.OPEN)
    reopened = candidate.children.exclude(pk=review.child_id).exists()
    if (
        candidate.state != expected[review.decision]
        or reopened
        or group_edits.filter(slots__state=SlotState.LEASED).exists()
    ):
        raise AnnotationError(
            _("Somebody has gone on from here already; ask the project's researcher to set it right.")
        )
