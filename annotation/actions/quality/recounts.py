"""Exclude and reinstate votes, with their slots, the verdicts of their pairs and the state of their items."""

from datetime import datetime

from annotation.actions.leases.leasing import order_seed
from annotation.actions.workflow.caption_doubts import flag_captions
from annotation.actions.workflow.verdicts import apply_vote, locked_item, revert_vote
from annotation.models import Slot, SlotState, Stage, Task, TaskState, Vote, VoteState
from annotation.rules.ordering import caption_first
from annotation.transactions import lock_rows
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.corpus.rules.states import WITHDRAWN
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User

COUNTED, ASIDE, SURPLUS = VoteState.COUNTED, VoteState.SET_ASIDE, VoteState.SURPLUS


def votes_of(person: User, project: Project, state: str) -> list[Vote]:
    """Return the person's judgements in that state; locks their items and captions.

    Locks all the items, then all captions of those items: locking item by item could deadlock with a judge of another
    item of the caption.
    """
    votes = Vote.objects.filter(person=person, item__subtest__project=project, stage=Stage.VALIDATION, state=state)
    items = Item.objects.filter(pk__in=votes.values("item"))
    lock_rows(items)
    lock_rows(Caption.objects.filter(pk__in=set(items.values_list("caption", flat=True))))
    return list(votes.order_by("item_id", "pk"))


def exclude_vote(vote: Vote, project: Project, actor: User, reason: str, now: datetime) -> bool:
    """Exclude a counted vote: its slot is free for others, and its item returns to validation.

    Return False if the vote has changed meanwhile.
    """
    item = locked_item(vote.item_id)
    if not Vote.objects.filter(pk=vote.pk, state=COUNTED).update(state=ASIDE):
        return False
    _record(vote, project, actor, "set_vote_aside", COUNTED, ASIDE, reason)
    if item.state in WITHDRAWN:
        # Decisions based on them remain, except whether the caption is in doubt.
        flag_captions([item.caption_id])
        return True
    task = Task.objects.get(pk=Slot.objects.values("task").get(pk=vote.slot_id)["task"])
    Slot.objects.filter(pk=vote.slot_id, state=SlotState.DONE).update(
        state=SlotState.FREE, person=None, token="", expires_at=None
    )
    Task.objects.filter(pk=task.pk, state=TaskState.DONE).update(state=TaskState.OPEN)
    revert_vote(item, task, actor, reason or "votes were set aside", now)
    return True


def reinstate_vote(vote: Vote, project: Project, actor: User, reason: str, now: datetime) -> str:
    """Count an excluded vote again if a slot is free, else mark it as surplus; return the new state."""
    item = locked_item(vote.item_id)
    slot = _slot_for(vote, item)
    new = COUNTED if slot else SURPLUS
    Vote.objects.filter(pk=vote.pk, state=ASIDE).update(state=new, slot=slot)
    _record(vote, project, actor, "bring_vote_back", ASIDE, new, reason)
    if slot is None:
        return new
    if item.state in WITHDRAWN:
        flag_captions([item.caption_id])
        return new
    Slot.objects.filter(pk=slot.pk).update(state=SlotState.DONE, person=vote.person_id, token="", expires_at=None)
    apply_vote(item, slot.task, actor, now)
    return new


def _slot_for(vote: Vote, item: Item) -> Slot | None:
    """Return the vote's former slot if it is free, else a free one with the same order of texts, else any."""
    slots = Slot.objects.select_for_update(of=("self",), no_key=True).select_related("task")
    if item.state in WITHDRAWN:
        return slots.filter(pk=vote.slot_id, state=SlotState.DONE, person=vote.person_id).first()
    elsewhere = Slot.objects.filter(item=item, stage=Stage.VALIDATION, person=vote.person_id)
    if elsewhere.exists():
        return None
    free_slots = slots.filter(
        task__foil=vote.foil_id, stage=Stage.VALIDATION, state=SlotState.FREE, task__state=TaskState.OPEN
    )
    return min(
        free_slots, key=lambda slot: (slot.pk != vote.slot_id, not _same_order(vote, slot), slot.index), default=None
    )


def _same_order(vote: Vote, slot: Slot) -> bool:
    is_caption_first = caption_first(order_seed(slot.project_id), slot.task.foil_id, slot.index, slot.task.overlap)
    return is_caption_first == vote.caption_first


def _record(vote: Vote, project: Project, actor: User, action: str, old: str, new: str, reason: str) -> None:
    audit.record(audit.event(project, actor, action, vote, from_state=old, to_state=new, reason=reason))
