"""From votes to verdicts: of a pair, of its item, of the caption behind it. The item's row is locked."""

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
    """The subtest's rule for a task of so many places: a changed rule does not reach back to tasks made before."""
    return replace(rule_in_force(subtest), wanted=places)


def locked_item(pk: int) -> Item:
    """The item with subtest, project and caption; other votes on it wait until the transaction ends."""
    items = Item.objects.select_related("subtest__project", "caption")
    return items.select_for_update(of=("self",), no_key=True).get(pk=pk)


def lock(item: Item) -> None:
    """The same of an item in hand, whose state is read anew."""
    state = _STATE.first(pk=item.pk)
    if state is None:
        raise Item.DoesNotExist
    item.state, item.decided_at = state


def counted_votes(item: Item) -> dict[int, Counter[str]]:
    """Counted votes of the item by foil id and choice: one query."""
    counts: dict[int, Counter[str]] = {}
    votes = Vote.objects.filter(item=item, stage=Stage.VALIDATION, state=VoteState.COUNTED, foil__isnull=False)
    for foil, choice in votes.values_list("foil", "choice"):
        counts.setdefault(foil, Counter())[choice] += 1
    return counts


def apply_vote(
    item: Item, task: Task, actor: User, now: datetime, *beside: AuditEvent, says_something: bool = True
) -> None:
    """A vote has come in: the pair gets its verdict when it was the last one, and the item its state.

    With sequential stopping a pair's last vote is the one that no other can turn: its free places are cancelled, and
    what others hold of it is still theirs to give; such a vote is counted and changes no verdict, though it may put the
    caption in doubt. `beside` are audit rows that are stored with those of this.
    Not `says_something`: a vote went, and those that are left decide; a caption that was confirmed stays so.
    """
    rule = rule_of(item.subtest, task.overlap)
    counts, verdicts = _votes_and_verdicts(item)
    if verdicts[task.foil_id] != FoilVerdict.PENDING:
        task_slots.finish_when_full(task.pk)
        audit.record_many(beside)
        if FoilVerdict.PENDING not in verdicts.values():
            # A caption that was confirmed since stays so: it was confirmed against the votes that decided.
            flag_captions([item.caption_id])
        return
    verdict = voting.pair_verdict(counts.get(task.foil_id, {}), rule)
    if verdict != FoilVerdict.PENDING:
        Foil.objects.filter(pk=task.foil_id, verdict=FoilVerdict.PENDING).update(verdict=verdict)
        if rule.stop_early:
            task_slots.stop_collecting(task)
        else:
            task_slots.finish(task)
    verdicts[task.foil_id] = verdict
    outcome = voting.item_outcome(verdicts.values(), rule)
    decided = outcome != ItemState.IN_VALIDATION
    unanimous = None if rule.stop_early else _unanimous(verdicts, counts)
    also = {"decided_at": now, "unanimous": unanimous} if decided else None
    move_item(item, "vote", item.subtest.project, actor, outcome=outcome, also=also, beside=beside, foil=task.foil_id)
    if decided:
        flag_captions([item.caption_id], [item.pk] if says_something else [])


def _votes_and_verdicts(item: Item) -> tuple[dict[int, Counter[str]], dict[int, str]]:
    """Counted votes by foil id and choice, and every foil's verdict: one query."""
    counts: dict[int, Counter[str]] = {}
    verdicts: dict[int, str] = {}
    for foil, verdict, choice in _VOTES.all(item=item.pk):
        verdicts[foil] = verdict
        if choice is not None:
            counts.setdefault(foil, Counter())[choice] += 1
    return counts, verdicts


def revert_vote(item: Item, task: Task, actor: User, reason: str, now: datetime) -> None:
    """A counted vote counts no longer: its pair is pending again, and the item in validation if it was decided.

    With sequential stopping the votes that are left may decide at once.
    """
    Foil.objects.filter(pk=task.foil_id).update(verdict=FoilVerdict.PENDING)
    task_slots.reopen_for_votes(task)
    if item.state != ItemState.IN_VALIDATION:
        also = {"decided_at": None, "unanimous": None}
        move_item(item, "recount", item.subtest.project, actor, reason=reason, also=also)
        flag_captions([item.caption_id])
    if item.subtest.stop_early:
        apply_vote(item, task, actor, now, says_something=False)


def _unanimous(verdicts: dict[int, str], counts: dict[int, Counter[str]]) -> bool:
    return voting.is_unanimous([counts.get(foil, Counter()) for foil in verdicts])
