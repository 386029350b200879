"""Exclude and reinstate votes, with their slots, the verdicts of their pairs and the state of their items.

A researcher sets the project's quality rules, and opens practice and the qualification.

Ask for new votes on items that votes have decided, from people who have not judged them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.leases.leasing import order_seed
from annotation.actions.quality.standings import policy_of
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import apply_vote, flag_captions, locked_item, revert_vote
from annotation.errors import AnnotationError
from annotation.models import QualityPolicy, Slot, SlotState, Stage, Task, TaskState, Use, Vote, VoteState
from annotation.queries.quality import readiness
from annotation.rules.ordering import caption_first
from annotation.transactions import lock_rows, run_in_transaction
from foilworks.core.corpus.models import WATCHABLE, Caption, Foil, Item
from foilworks.core.corpus.rules.states import WITHDRAWN, FoilVerdict, ItemState, next_item_state
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

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


def save_quality_policy(
    actor: User, project: Project, *, judge_caption_once: bool | None = None, **fields: Any
) -> QualityPolicy:
    """Store the fields. AnnotationError names the invalid field, or what is missing before something can be opened.

    `judge_caption_once` is the project's option; None leaves it as it is.
    """
    require_role(actor, project, Role.RESEARCHER)
    return run_in_transaction(lambda: _save(actor, project, judge_caption_once, fields))


def _save(actor: User, project: Project, once: bool | None, fields: dict[str, Any]) -> QualityPolicy:
    policy = policy_of(project)
    if once is not None and once != policy.project.judge_caption_once:
        project.judge_caption_once = once
        project.save(update_fields=["judge_caption_once"])
        audit.record(audit.event(project, actor, "set_judge_caption_once", project, judge_caption_once=once))
    changed_fields = {name: value for name, value in fields.items() if getattr(policy, name) != value}
    for name, value in changed_fields.items():
        setattr(policy, name, value)
    try:
        policy.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    _complete(policy)
    policy.save()
    audit.record(audit.event(project, actor, "save_quality_policy", policy, **changed_fields))
    return policy


def _complete(policy: QualityPolicy) -> None:
    """Check that what is opened has what it needs."""
    project = policy.project
    if policy.guess_accuracy >= policy.careful_accuracy:
        raise AnnotationError(_("The gold accuracy of careful people must be higher than that of guessers."))
    if policy.qualification_required and not policy.qualification_open:
        raise AnnotationError(_("Open the qualification before you require it. Otherwise nobody can pass it."))
    if policy.qualification_open and readiness(project, Use.QUALIFICATION).pairs < policy.test_length:
        raise AnnotationError(
            _("The qualification does not have %(wanted)s questions. Add pairs, or lower the number.")
            % {"wanted": policy.test_length}
        )
    practice = readiness(project, Use.PRACTICE)
    if policy.practice_open and not practice.pairs + practice.captions:
        raise AnnotationError(_("Add pairs or captions to practice before you open it."))
    if policy.gold_rate and not readiness(project, Use.MIXED).pairs:
        raise AnnotationError(_("Add gold pairs before you set a share of gold."))


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
