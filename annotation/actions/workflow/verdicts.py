"""From votes to the verdict of a pair, the state of its item, and doubt about its caption. The item's row is locked."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

from django.db.models import FilteredRelation, Q

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.caption_doubts import flag_captions
from annotation.actions.workflow.transitions import move_item
from annotation.models import Stage, Task, Vote, VoteState
from annotation.queries.vote_rules import rule_in_force
from annotation.rules import voting
from annotation.rules.voting import VoteRule
from corpus.models import Foil, Item, Subtest
from corpus.rules.states import FoilVerdict, ItemState
from projects import audit
from projects.models import AuditEvent, User
from projects.sql.prepared_queries import Prepared

_STATE = Prepared(
    lambda pk: Item.objects.select_for_update(no_key=True).filter(pk=pk).values_list("state", "decided_at")
)
_VOTES = Prepared(
    lambda item: (
        Foil.objects.filter(item=item)
        .annotate(
            counted=FilteredRelation(
                "votes", condition=Q(votes__stage=Stage.VALIDATION, votes__state=VoteState.COUNTED)
            )
        )
        .order_by()
        .values_list("pk", "verdict", "counted__choice")
    )
)


def rule_of(subtest: Subtest, places: int) -> VoteRule:
    """Return the vote rule of a task with so many slots: a changed rule does not apply to earlier tasks."""
    return replace(rule_in_force(subtest), wanted=places)


def locked_item(pk: int) -> Item:
    """Return the item with subtest, project and caption; other votes on it wait until the transaction ends."""
    items = Item.objects.select_related("subtest__project", "caption")
    return items.select_for_update(of=("self",), no_key=True).get(pk=pk)


def lock(item: Item) -> None:
    """Lock a loaded item in the same way, and read its state again."""
    state = _STATE.first(pk=item.pk)
    if state is None:
        raise Item.DoesNotExist
    item.state, item.decided_at = state


def counted_votes(item: Item) -> dict[int, Counter[str]]:
    """Return the item's counted votes by foil id and choice, in one query."""
    counts: dict[int, Counter[str]] = {}
    votes = Vote.objects.filter(item=item, stage=Stage.VALIDATION, state=VoteState.COUNTED, foil__isnull=False)
    for foil, choice in votes.values_list("foil", "choice"):
        counts.setdefault(foil, Counter())[choice] += 1
    return counts


def apply_vote(
    item: Item, task: Task, actor: User, now: datetime, *beside: AuditEvent, says_something: bool = True
) -> None:
    """Apply a new vote: the last one gives the pair its verdict, and then the item its state.

    With sequential stopping, a pair is decided as soon as no further vote can change it. Its free slots are then
    cancelled; votes of people who hold its other slots are counted and change no verdict, but may put the caption in
    doubt. `beside`: audit rows to store with these. `says_something` is False if a vote was removed and the remaining
    ones decide; a confirmed caption then stays confirmed.
    """
    rule = rule_of(item.subtest, task.overlap)
    counts, verdicts = _votes_and_verdicts(item)
    asked = task.foils_asked or [task.foil_id]
    # One vote on a multiple-choice item is about all its foils, whose verdict is the same.
    counts |= dict.fromkeys(asked, counts.get(task.foil_id, Counter()))
    if verdicts[task.foil_id] != FoilVerdict.PENDING:
        task_slots.finish_when_full(task.pk)
        audit.record_many(beside)
        if FoilVerdict.PENDING not in verdicts.values():
            # A caption confirmed since then stays confirmed, because it was confirmed against the deciding votes.
            flag_captions([item.caption_id])
        return
    verdict = voting.pair_verdict(counts.get(task.foil_id, {}), rule)
    if verdict != FoilVerdict.PENDING:
        Foil.objects.filter(pk__in=asked, verdict=FoilVerdict.PENDING).update(verdict=verdict)
        if rule.stop_early:
            task_slots.stop_collecting(task)
        else:
            task_slots.finish(task)
    verdicts |= dict.fromkeys(asked, verdict)
    outcome = voting.item_outcome(verdicts.values(), rule)
    decided = outcome != ItemState.IN_VALIDATION
    unanimous = None if rule.stop_early else _unanimous(verdicts, counts)
    also = {"decided_at": now, "unanimous": unanimous} if decided else None
    move_item(item, "vote", item.subtest.project, actor, outcome=outcome, also=also, beside=beside, foil=task.foil_id)
    if decided:
        flag_captions([item.caption_id], [item.pk] if says_something else [])


def _votes_and_verdicts(item: Item) -> tuple[dict[int, Counter[str]], dict[int, str]]:
    """Return counted votes by foil id and choice, and every foil's verdict, in one query."""
    counts: dict[int, Counter[str]] = {}
    verdicts: dict[int, str] = {}
    for foil, verdict, choice in _VOTES.all(item=item.pk):
        verdicts[foil] = verdict
        if choice is not None:
            counts.setdefault(foil, Counter())[choice] += 1
    return counts, verdicts


def revert_vote(item: Item, task: Task, actor: User, reason: str, now: datetime) -> None:
    """Remove a vote from the count: its pair is pending again, and a decided item returns to validation.

    With sequential stopping, the remaining votes may decide at once.
    """
    Foil.objects.filter(pk__in=task.foils_asked or [task.foil_id]).update(verdict=FoilVerdict.PENDING)
    task_slots.reopen_for_votes(task)
    if item.state != ItemState.IN_VALIDATION:
        also = {"decided_at": None, "unanimous": None}
        move_item(item, "recount", item.subtest.project, actor, reason=reason, also=also)
        flag_captions([item.caption_id])
    if item.subtest.stop_early:
        apply_vote(item, task, actor, now, says_something=False)


def _unanimous(verdicts: dict[int, str], counts: dict[int, Counter[str]]) -> bool:
    return voting.is_unanimous([counts.get(foil, Counter()) for foil in verdicts])
