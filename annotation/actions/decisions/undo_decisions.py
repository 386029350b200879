"""Undo a decision about an item or a caption while nothing depends on it.

The audit row of a decision stores in `was` what the decision changed. The undo restores exactly that.
"""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import caption_for, item_for
from annotation.actions.decisions.items import ROLES, refuse_if_given_up
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.groups import link_main_items, locked_group, take_apart, unlink_main_items
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import GoldPair, Lease, Slot, SlotState, Task
from annotation.models.stages import CHOICES
from annotation.transactions import lock_rows, run_in_transaction
from foilworks.core.corpus.models import Caption, DoubtSettled, Foil, Item, ReleaseItem
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role, User
from generation.models import Candidate, CandidateGroup

# Longer than for an answer: a decision about a page of items takes longer to check.
UNDO_SECONDS = 600
ITEM, CAPTION = Item._meta.label_lower, Caption._meta.label_lower


def undoable_decisions(person: User, model: type[Item] | type[Caption], ids: Collection[int]) -> list[AuditEvent]:
    """Return the last audit row of each of these items or captions if it is the person's decision; one query."""
    rows = AuditEvent.objects.filter(target_type=model._meta.label_lower, target_id__in=[str(pk) for pk in ids])
    last = {event.target_id: event for event in rows.order_by("pk")}
    return [event for event in last.values() if event.actor_id == person.pk and _is_undoable(event)]


def undo_decision(person: User, event_id: int, *, now: datetime | None = None) -> Item | Caption:
    """Undo the decision of this audit row: the row it is about is as before, also its slots.

    A slot that somebody held when a decision cancelled it becomes free. Involvements stay, because the person has seen
    the votes. AnnotationError after UNDO_SECONDS, for somebody else's decision, and if later work depends on it.
    """
    return run_in_transaction(lambda: _undo(person, event_id, now or timezone.now()))


def _undo(person: User, event_id: int, now: datetime) -> Item | Caption:
    event = AuditEvent.objects.filter(pk=event_id, actor=person.pk).first()
    if event is None or not _is_undoable(event):
        raise AnnotationError(_("There is nothing to undo. You can undo only your own decisions."))
    if now > event.at + timedelta(seconds=UNDO_SECONDS):
        minutes = UNDO_SECONDS // 60
        raise AnnotationError(_("You can undo a decision only for %(minutes)s minutes.") % {"minutes": minutes})
    return _undo_confirm(person, event) if event.target_type == CAPTION else _undo_item(person, event)


def _is_undoable(event: AuditEvent) -> bool:
    if event.target_type == CAPTION:
        return event.action == CONFIRMED and event.to_state == DoubtSettled.CONFIRMED
    return event.target_type == ITEM and event.action in _UNDO and "was" in event.details


def _undo_confirm(person: User, event: AuditEvent) -> Caption:
    caption = caption_for(person, int(event.target_id), Role.RESEARCHER)
    rows = Caption.objects.filter(pk=caption.pk, doubt_settled=DoubtSettled.CONFIRMED, flagged_false=True)
    _require_last(event, caption)
    if rows.update(doubt_settled="") != 1:
        raise AnnotationError(_changed_since())
    caption.doubt_settled = ""
    words = {"from_state": DoubtSettled.CONFIRMED, "to_state": "in_doubt"}
    audit.record(audit.event(caption.video.project, person, "undo_settle_doubt", caption, **words))
    return caption


def _undo_item(person: User, event: AuditEvent) -> Item:
    roles = ROLES if event.action == "adjudicate" else (Role.RESEARCHER,)
    item_id = item_for(person, int(event.target_id), *roles).pk
    # Its group before the item, in the order in which `take_apart` locks them.
    group_id = event.details["was"].get("group")
    group = locked_group(group_id) if group_id and CandidateGroup.objects.filter(pk=group_id).exists() else None
    item = locked_item(item_id)
    _require_last(event, item)
    if ReleaseItem.objects.filter(item=item, release__created_at__gte=event.at).exists():
        raise AnnotationError(_("A release frozen since then contains this item, so the decision cannot be undone."))
    _UNDO[event.action](item, event, person, group)
    return item


def _require_last(event: AuditEvent, row: Item | Caption) -> None:
    last = audit.events_of(row).values_list("pk", flat=True).last()
    if last != event.pk:
        raise AnnotationError(_changed_since())


def _changed_since() -> str:
    return _("This has changed since your decision, so the decision cannot be undone. Reload the page.")


def _move_back(item: Item, event: AuditEvent, person: User) -> None:
    moment = event.details["was"]["decided_at"]
    also = {"decided_at": datetime.fromisoformat(moment) if moment else None}
    # One state that the move leads to, or the one before.
    outcome = event.details["was"].get("state", ItemState.VALID) if event.action == "retract" else None
    move = f"undo_{event.action}"
    move_item(item, move, item.subtest.project, person, outcome=outcome, also=also, undone=event.pk)


def _undo_adjudicate(item: Item, event: AuditEvent, person: User, _group: CandidateGroup | None) -> None:
    _remove_studies(item, event)
    _move_back(item, event, person)
    Foil.objects.filter(pk__in=event.details["was"]["disputed"], item=item).update(verdict=FoilVerdict.DISPUTED)


def _undo_retract(item: Item, event: AuditEvent, person: User, _group: CandidateGroup | None) -> None:
    refuse_if_given_up(item)
    _move_back(item, event, person)
    _undo_withdraw(item, event.details["was"])


def _undo_restore(item: Item, event: AuditEvent, person: User, _group: CandidateGroup | None) -> None:
    _remove_studies(item, event)
    _move_back(item, event, person)
    unlink_main_items(item)


def _undo_requeue(item: Item, event: AuditEvent, person: User, group: CandidateGroup | None) -> None:
    """Delete the reopened candidates and their tasks, which nobody has opened."""
    was = event.details["was"]
    if group is None:
        raise AnnotationError(_changed_since())
    refuse_if_given_up(item)
    if group.item is not None:
        take_apart(group, item.subtest.project, person)
    tasks = Task.objects.filter(Q(group=group) | Q(candidate__in=was["reopened"]), created_at__gte=event.at)
    require_unopened(tasks)
    # Every change of a candidate has an audit row; the first one is from the decision.
    label, ids = Candidate._meta.label_lower, [str(pk) for pk in was["reopened"]]
    touched = AuditEvent.objects.filter(target_type=label, target_id__in=ids, pk__gt=event.pk).exists()
    if touched or Candidate.objects.filter(group=group, pk__gt=max(was["reopened"], default=0)).exists():
        raise AnnotationError(_opened_since())
    tasks.delete()
    Candidate.objects.filter(pk__in=was["reopened"]).delete()
    if was["imported"]:
        group.delete()
    else:
        CandidateGroup.objects.filter(pk=group.pk).update(item=item)
    _move_back(item, event, person)
    _undo_withdraw(item, was)


def _opened_since() -> str:
    return _("Someone has already started on what follows from this decision, so it cannot be undone.")


def require_unopened(tasks: Any) -> None:
    """Refuse if anybody holds or held a slot of these tasks. Parallel claims wait."""
    slots = Slot.objects.filter(task__in=tasks)
    lock_rows(slots)
    if slots.exclude(state__in=[SlotState.FREE, SlotState.CANCELLED]).exists() or (
        Lease.objects.filter(slot__in=slots).exists()
    ):
        raise AnnotationError(_opened_since())


def _remove_studies(item: Item, event: AuditEvent) -> None:
    """Delete the tasks of studies that the valid item has got since, which nobody has opened."""
    tasks = Task.objects.filter(item=item, stage__in=CHOICES, created_at__gte=event.at)
    require_unopened(tasks)
    tasks.delete()
    if GoldPair.objects.filter(item=item, created_at__gte=event.at, withdrawn_at=None).exists():
        raise AnnotationError(_("A gold pair was made from this item since then, so the decision cannot be undone."))


def _undo_withdraw(item: Item, was: dict[str, Any]) -> None:
    """Undo `_withdraw` of annotation.actions.decisions.items."""
    Item.objects.filter(pk__in=was["main_items"]).update(proficiency_item=item)
    link_main_items(item)
    task_slots.reopen_cancelled(was["slots"])


CONFIRMED = "settle_doubt"
_UNDO: dict[str, Callable[[Item, AuditEvent, User, CandidateGroup | None], None]] = {
    "adjudicate": _undo_adjudicate,
    "requeue": _undo_requeue,
    "retract": _undo_retract,
    "restore": _undo_restore,
}
