"""A person of the human baseline chooses one of the item's texts."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import Choice, Involvement, Lease, Stage, Vote, VoteState
from annotation.rules.baseline import CAPTION, chosen_text
from annotation.transactions import Refused, run_in_transaction
from projects import audit
from projects.models import Role, User


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
    """Store the choice, once for each `key`; which text it is, is read from the order kept with the lease.

    It counts for the baseline alone: no state of the item follows. Late work counts if a place is free, else it is
    stored as surplus. AnnotationError for a place that was not shown, or a second choice on the item.
    """
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds)
    return run_in_transaction(lambda: _submit(sent, answer))


def _submit(sent: Submission, answer: str | int) -> Vote | Refused:
    lease = submission.get_open_lease(sent, Stage.BASELINE, Role.ANNOTATOR)
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
            raise AnnotationError(_("You have answered this item already; nothing was added."))
        leasing.close(lease, sent.now)
        submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.JUDGED)
        return _record(sent, lease, place, chosen)
    refused = submission.check_eligibility(place.slot, sent)
    if refused is not None:
        return refused
    leasing.fill(place.slot, lease, sent.now)
    vote = _record(sent, lease, place, chosen)
    submission.involve(sent, place.slot, Involvement.Kind.JUDGED)
    task_slots.finish_when_full(place.slot.task_id)
    return vote


def _record(sent: Submission, lease: Lease, place: leasing.SlotToFill, chosen: int) -> Vote:
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
