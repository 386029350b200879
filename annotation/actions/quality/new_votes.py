"""Ask for new votes on items that votes have decided, from people who have not judged them."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.caption_doubts import flag_captions
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import Slot, SlotState, Stage, Task, TaskState, Vote, VoteState
from annotation.transactions import lock_rows, run_in_transaction
from foilworks.core.corpus.models import WATCHABLE, Caption, Foil, Item
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState, next_item_state
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User


def ask_for_new_votes(
    person: User, project: Project, items: Sequence[int], reason: str, *, now: datetime | None = None
) -> int:
    """Return the items of the project (ids) to validation; the number of them. Items in validation stay as they are.

    Their earlier votes no longer count, and their voters cannot judge them again. Voters see nothing of the reason.
    AccessDenied without the researcher's role; AnnotationError: no reason, or an item that nobody can judge.
    """
    require_role(person, project, Role.RESEARCHER)
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. It is saved with the item."))
    return run_in_transaction(
        lambda: _request_votes(person, project, sorted(set(items)), reason.strip(), now or timezone.now())
    )


def _request_votes(person: User, project: Project, keys: Sequence[int], reason: str, now: datetime) -> int:
    rows = Item.objects.filter(pk__in=keys, project=project)
    lock_rows(rows)
    lock_rows(Caption.objects.filter(pk__in=set(rows.values_list("caption", flat=True))))
    items = [locked_item(pk) for pk in rows.order_by("pk").values_list("pk", flat=True)]
    for item in items:
        _check(item)
    decided = [item for item in items if item.state != ItemState.IN_VALIDATION]
    for item in decided:
        _reopen(item, project, person, reason)
    return len(decided)


def _check(item: Item) -> None:
    if not item.subtest.votes_wanted:
        raise AnnotationError(
            _("The subtest %(name)s requires no votes. Require at least one vote per pair, then collect votes.")
            % {"name": item.subtest.name}
        )
    if item.video.media_state not in WATCHABLE:
        raise AnnotationError(
            _("Nobody can watch the video of the item %(key)s. Attach the video first.") % {"key": item.key}
        )
    if item.state != ItemState.IN_VALIDATION:
        next_item_state(item.state, "ask_again")


def _reopen(item: Item, project: Project, person: User, reason: str) -> None:
    votes = Vote.objects.filter(item=item, stage=Stage.VALIDATION, state=VoteState.COUNTED)
    events = [
        audit.event(
            project, person, "replace_vote", vote, from_state=vote.state, to_state=VoteState.SURPLUS, reason=reason
        )
        for vote in votes
    ]
    # Surplus and without a slot: nothing counts them again.
    votes.update(state=VoteState.SURPLUS, slot=None)
    audit.record_many(events)
    tasks = Task.objects.filter(item=item, stage=Stage.VALIDATION)
    freed = {"state": SlotState.FREE, "person": None, "token": "", "expires_at": None}
    Slot.objects.filter(task__in=tasks, state__in=[SlotState.DONE, SlotState.CANCELLED]).update(**freed)
    tasks.exclude(state=TaskState.OPEN).update(state=TaskState.OPEN)
    foils = Foil.objects.filter(item=item)
    foils.update(verdict=FoilVerdict.PENDING)
    voted_foils = {pk for foil, foils_asked in tasks.values_list("foil", "foils_asked") for pk in foils_asked or [foil]}
    new = list(foils.exclude(pk__in=voted_foils).order_by("position"))
    task_slots.store(task_slots.validation_tasks(project, item, new, item.subtest.votes_wanted))
    also = {"decided_at": None, "unanimous": None}
    move_item(item, "ask_again", project, person, reason=reason, also=also)
    flag_captions([item.caption_id])
