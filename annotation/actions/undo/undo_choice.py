"""A person of the human baseline takes back the last choice."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import vote_for
from annotation.actions.undo import undo
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Involvement, Stage, Vote, VoteState
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Role, User


def undo_choice(person: User, vote_id: int, *, now: datetime | None = None) -> Claim:
    """The choice is kept as undone and counts no longer; its place is leased to the person again.

    AnnotationError after the project's undo_seconds.
    """
    return run_in_transaction(lambda: _undo_choice(person, vote_id, now or timezone.now()))


def _undo_choice(person: User, vote_id: int, now: datetime) -> Claim:
    vote = vote_for(person, vote_id)
    if vote.stage != Stage.BASELINE:
        raise AnnotationError(_("This is no choice of the human baseline."))
    if vote.state == VoteState.UNDONE:
        return undo.running_lease(vote.slot, person)
    undo.in_time(vote, person, Role.ANNOTATOR, now)
    if Vote.objects.filter(pk=vote.pk, state=VoteState.COUNTED).update(state=VoteState.UNDONE) != 1:
        raise AnnotationError(_("This was undone before."))
    project = vote.slot.project
    audit.record(
        audit.event(project, person, "undo_choice", vote, from_state=VoteState.COUNTED, to_state=VoteState.UNDONE)
    )
    _take_back_the_hand(vote)
    return undo.lease_again(vote.slot, person, now)


def _take_back_the_hand(vote: Vote) -> None:
    """The baseline bars whoever judged the video, and so would bar the very item that comes back."""
    video = vote.slot.video_id
    others = Vote.objects.filter(person=vote.person_id, item__video=video).exclude(item=vote.item_id, stage=vote.stage)
    if not others.exists():
        judged = Involvement.Kind.JUDGED
        Involvement.objects.filter(person=vote.person_id, video=video, kind=judged).delete()
