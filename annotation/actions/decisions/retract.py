"""A researcher takes a valid item out; releases that hold it keep their content. Nobody is asked about it any more."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.assembly import unlink_main_items
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import Stage, Task
from annotation.transactions import run_in_transaction
from corpus.models import Item
from projects.models import Role, User


def retract(person: User, item_id: int, reason: str, *, now: datetime | None = None) -> Item:
    """valid -> retracted. AnnotationError without a reason, IllegalMove for an item that is not valid."""
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason is kept with the item."))
    return run_in_transaction(lambda: _retract(person, item_id, reason.strip(), now or timezone.now()))


def _retract(person: User, item_id: int, reason: str, now: datetime) -> Item:
    item = locked_item(item_for(person, item_id, Role.RESEARCHER).pk)
    move_item(item, "retract", item.subtest.project, person, reason=reason, also={"decided_at": now})
    unlink_main_items(item)
    task_slots.cancel(Task.objects.filter(item=item, stage=Stage.BASELINE), now)
    return item
