"""A validator says which of two texts is true of the video."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import _leases, _submits
from annotation.actions._submits import Sent
from annotation.actions._transaction import Refused, committed
from annotation.actions._verdicts import locked_item, vote_moved
from annotation.errors import AnnotationError
from annotation.models import Involvement, Lease, Stage, Vote, VoteState
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from corpus.models import Item
from projects import audit
from projects.models import Role, User


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
    """Store the vote, once for each `key`; what "first" meant is read from the order kept with the lease.

    The last vote of a pair gives its verdict, and the last pair the item's state. Late work counts if a place is
    free, else it is stored as surplus. `lease`: where the caller has it from judged_lease_for. AnnotationError for an unknown answer or a second vote on the item.
    """
    shown = parse_answer(answer)
    if shown is None:
        raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
    held = lease or judged_lease_for(person, token)
    sent = Sent(person, token, key, now or timezone.now(), watch, seconds, held)
    return committed(lambda: _submit(sent, shown))


def _submit(sent: Sent, shown: str) -> Vote | Refused:
    lease = _submits.opened(sent, Stage.VALIDATION, Role.VALIDATOR)
    item = lease.task.item
    lock(item)
    same = Q(idempotency_key=sent.key) | Q(item=item, stage=Stage.VALIDATION)
    mine = list(Vote.objects.filter(same, person=sent.person))
    before = next((vote for vote in mine if vote.idempotency_key == sent.key), None)
    if before is not None:
        return before
    answered = any(vote.state != VoteState.UNDONE for vote in mine)
    place = _leases.find_place(lease, sent.now)
    if place.slot is None:
        if answered:
            raise AnnotationError(_("You have answered this item already; nothing was added."))
        _leases.close(lease, sent.now)
        _submits.involve(sent, _submits.slot_with_task(lease), Involvement.Kind.JUDGED)
        return _record(sent, lease, place, item, shown)
    refused = _submits.forbidden(place.slot, sent, [item.pk] if answered else [])
    if refused is not None:
        return refused
    _leases.fill(place.slot, lease, sent.now)
    vote = _record(sent, lease, place, item, shown)
    _submits.involve(sent, place.slot, Involvement.Kind.JUDGED)
    vote_moved(item, place.slot.task, sent.person, sent.now)
    return vote


def _record(sent: Sent, lease: Lease, place: _leases.Place, item: Item, shown: str) -> Vote:
    vote = Vote.objects.create(
        item=item,
        foil_id=lease.task.foil_id,
        stage=Stage.VALIDATION,
        choice=truth_of(shown, lease.caption_first),
        caption_first=lease.caption_first,
        state=VoteState.COUNTED if place.slot else VoteState.SURPLUS,
        **_submits.common_fields(sent, lease, place),
    )
    audit.record(
        audit.event(item.subtest.project, sent.person, "submit_vote", vote, to_state=vote.state, late=place.late)
    )
    return vote
