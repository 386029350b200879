"""A validator takes back the last vote."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import vote_for
from annotation.actions.quality import standings
from annotation.actions.undo import undo
from annotation.actions.workflow.verdicts import locked_item, revert_vote
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Vote, VoteState
from annotation.transactions import run_in_transaction, serialize_writes
from corpus.models import Item, ReleaseItem
from corpus.release_records import AS_PUBLISHED
from corpus.rules.states import WITHDRAWN, ItemState
from projects import audit
from projects.models import AuditEvent, Role, User


def undo_vote(person: User, vote_id: int, *, now: datetime | None = None) -> Claim:
    """The vote is kept as undone and counts no longer; its place is leased to the person again.

    An item that it decided is in validation again. AnnotationError after the project's undo_seconds, or once the item
    was released, adjudicated, requeued or retracted.
    """
    return run_in_transaction(lambda: _undo_vote(person, vote_id, now or timezone.now()))


def _undo_vote(person: User, vote_id: int, now: datetime) -> Claim:
    item_id = vote_for(person, vote_id).item_id
    serialize_writes(person)
    # Gold has no item, and nothing hangs on it.
    item = locked_item(item_id) if item_id else None
    vote = vote_for(person, vote_id)
    standing = standings.locked(vote.standing_id)
    if vote.state == VoteState.UNDONE:
        return undo.running_lease(vote.slot, person)
    undo.in_time(vote, person, Role.VALIDATOR, now)
    standings.refuse_undo_while_paused(standing)
    if vote.state != VoteState.COUNTED or (item is not None and (item.state in WITHDRAWN or _settled(item))):
        raise AnnotationError(_("The item was decided on since; ask the project's researcher to set it right."))
    if Vote.objects.filter(pk=vote.pk, state=VoteState.COUNTED).update(state=VoteState.UNDONE) != 1:
        raise AnnotationError(_("This was undone before."))
    audit.record(
        audit.event(
            vote.slot.project, person, "undo_vote", vote, from_state=VoteState.COUNTED, to_state=VoteState.UNDONE
        )
    )
    first = vote.caption_first if item is None else None
    claim = undo.lease_again(vote.slot, person, now, standing=standing, first=first)
    if standing is not None:
        standings.subtract_vote(standing, vote)
    if item is not None:
        revert_vote(item, vote.slot.task, person, "a vote was undone", now)
    return claim


def _settled(item: Item) -> bool:
    """Whether a release holds the item by its votes, or a researcher has settled it since it was last decided."""
    if item.state == ItemState.IN_VALIDATION:
        return False
    moves = AuditEvent.objects.filter(target_type=Item._meta.label_lower, target_id=str(item.pk))
    last = moves.order_by("-pk").values_list("action", flat=True).first()
    frozen = ReleaseItem.objects.filter(item=item).values_list("record", flat=True)
    return last == "adjudicate" or any(not record.get(AS_PUBLISHED) for record in frozen)
