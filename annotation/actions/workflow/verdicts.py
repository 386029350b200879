"""From votes to the verdict of a pair, the state of its item, and doubt about its caption. The item's row is locked.

Flag a caption as doubtful if most validators of a decided item did not see it in the video.

See docs/workflow.md#rule-11.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.actions.quality import skilled_validators
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.transitions import move_item
from annotation.models import Stage, Task, Vote, VoteState
from annotation.queries.held import PAIR, counted_pairs
from annotation.rules import voting
from annotation.rules.voting import VoteRule, caption_in_doubt, rule_in_force
from foilworks.core.corpus.models import Caption, DoubtSettled, Foil, Item, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, User
from foilworks.core.projects.sql.prepared_queries import Prepared, PreparedUpdate


def _locked(**filters: Any) -> QuerySet:
    rows = Caption.objects.select_for_update(no_key=True).filter(**filters).order_by("pk")
    return rows.values_list("pk", "flagged_false", "doubt_settled")


def _votes(**filters: Any) -> QuerySet:
    pending = Foil.objects.filter(item=OuterRef("item"), verdict=FoilVerdict.PENDING)
    votes = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED, **filters)
    return votes.exclude(Exists(pending)).values_list("item__caption", "item", "choice")


# The last vote on an item asks about one caption.
_LOCKED, _VOTES = Prepared(_locked), Prepared(lambda caption: _votes(item__caption=caption))


def flag_captions(captions: Collection[int], decided: Collection[int] = ()) -> None:
    """Flag or unflag these captions (ids) by the counted votes on their decided items.

    A confirmed caption needs a new decision if an item `decided` just now (ids) doubts it. Locks the captions' rows
    before it reads votes: two items of one caption, decided at once, would miss each other's votes. Lock items before
    captions, to prevent deadlocks.
    """
    single = next(iter(captions)) if len(captions) == 1 else None
    flagged_rows = list(_locked(pk__in=captions)) if single is None else _LOCKED.all(pk=single)
    doubting = _doubting_items(captions)
    for doubt in (True, False):
        changed_captions = [pk for pk, flag, _settled in flagged_rows if doubt == (pk in doubting) != flag]
        if changed_captions:
            Caption.objects.filter(pk__in=changed_captions).update(flagged_false=doubt)
    confirmed = [pk for pk, _flag, settled in flagged_rows if settled == DoubtSettled.CONFIRMED]
    newly_doubted = [pk for pk in confirmed if not doubting.get(pk, set()).isdisjoint(decided)]
    if newly_doubted:
        Caption.objects.filter(pk__in=newly_doubted).update(doubt_settled="")


def _doubting_items(captions: Collection[int]) -> dict[int, set[int]]:
    """Return the decided items whose votes put their caption in doubt, by the caption.

    An item that left validation before all votes were in was never decided.
    """
    single = next(iter(captions)) if len(captions) == 1 else None
    votes = _votes(item__caption__in=captions) if single is None else _VOTES.all(caption=single)
    counts: dict[tuple[int, int], Counter[str]] = {}
    for caption, item, choice in votes:
        counts.setdefault((caption, item), Counter())[choice] += 1
    doubting_items: dict[int, set[int]] = {}
    for (caption, item), of_item in counts.items():
        if caption_in_doubt(of_item):
            doubting_items.setdefault(caption, set()).add(item)
    return doubting_items


_DECIDE = PreparedUpdate(
    lambda foil, verdict: (Foil.objects.filter(pk=foil, verdict=FoilVerdict.PENDING), {"verdict": verdict})
)
Counts = dict[int, Counter[str]]


@dataclass(frozen=True)
class Pair:
    """A pair of an item, with its task as it is now: another vote may have given it more slots.

    `of_item`: the item also has votes of a file that are about no pair.
    """

    verdict: str
    slots: int
    in_full: bool
    of_item: bool

    def rule(self, subtest: Subtest) -> VoteRule:
        """Return the vote rule of the pair: a changed rule does not apply to earlier tasks."""
        return voting.rule_of_pair(rule_in_force(subtest), self.slots, in_full=self.in_full)


def locked_item(pk: int) -> Item:
    """Return the item with subtest, project and caption; other votes on it wait until the transaction ends."""
    items = Item.objects.select_related("subtest__project", "caption")
    return items.select_for_update(of=("self",), no_key=True).get(pk=pk)


def apply_vote(
    item: Item,
    task: Task,
    actor: User,
    now: datetime,
    *events: AuditEvent,
    says_something: bool = True,
    read: tuple[Counts, dict[int, Pair]] | None = None,
) -> None:
    """Apply a new vote: the last one gives the pair its verdict, and then the item its state.

    With sequential stopping, a pair is decided as soon as no further vote can change it. Its free slots are then
    cancelled; votes of people who hold its other slots are counted and change no verdict, but may put the caption in
    doubt. A pair whose votes decide nothing gets more slots, if the rule says so. `events`: audit rows to store with
    these. `read`: the counted votes, with the new one, and the pairs, if the caller has read them under the lock. If a
    vote was removed (`says_something` is False) and the remaining ones decide, a confirmed caption stays confirmed.
    """
    counts, pairs = read or votes_and_pairs(counted_pairs(item.pk).values_list(*PAIR))
    foils_asked = task.foils_asked or [task.foil_id]
    # One vote on a multiple-choice item is about all its foils, whose verdict is the same.
    counts |= dict.fromkeys(foils_asked, counts.get(task.foil_id, Counter()))
    pair, verdicts = pairs[task.foil_id], {foil: pair_row.verdict for foil, pair_row in pairs.items()}
    if pair.verdict != FoilVerdict.PENDING:
        task_slots.finish_when_full(task.pk)
        audit.record_many(events)
        if FoilVerdict.PENDING not in verdicts.values():
            # A caption confirmed since then stays confirmed, because it was confirmed against the deciding votes.
            flag_captions([item.caption_id])
        return
    rule = pair.rule(item.subtest)
    verdict = voting.pair_verdict(counts.get(task.foil_id, {}), rule)
    if verdict == FoilVerdict.DISPUTED and voting.wants_more(
        counts.get(task.foil_id, {}), rule_in_force(item.subtest), pair.slots
    ):
        verdict, events = FoilVerdict.PENDING, (*events, _more_votes(item.subtest, task, pair.slots, actor, now))
    if verdict != FoilVerdict.PENDING:
        _decide(foils_asked, verdict)
        if rule.stop_early:
            task_slots.stop_collecting(task)
        else:
            task_slots.finish(task)
    verdicts |= dict.fromkeys(foils_asked, verdict)
    outcome = voting.item_outcome(verdicts.values(), rule)
    decided = outcome != ItemState.IN_VALIDATION
    unanimous = None if item.subtest.stop_early and not pair.in_full else _unanimous(verdicts, counts)
    also = {"decided_at": now, "unanimous": unanimous} if decided else None
    move_item(item, "vote", item.subtest.project, actor, outcome=outcome, also=also, events=events, foil=task.foil_id)
    # An item in validation has no part in its caption's flag: without doubt of its own, it changes nothing.
    if decided and (pair.of_item or voting.caption_in_doubt(sum(counts.values(), Counter()))):
        flag_captions([item.caption_id], [item.pk] if says_something else [])


def _decide(foils: Sequence[int], verdict: str) -> None:
    if len(foils) == 1:
        _DECIDE(foil=foils[0], verdict=verdict)
        return
    Foil.objects.filter(pk__in=foils, verdict=FoilVerdict.PENDING).update(verdict=verdict)


def _more_votes(subtest: Subtest, task: Task, slots: int, actor: User, now: datetime) -> AuditEvent:
    """Give a divided pair its additional slots, and return the audit row to store."""
    project, most, people = subtest.project, subtest.votes_max, list[int]()
    if subtest.skilled_first:
        people = skilled_validators.skilled_people(task, project, most - slots)
        skilled_validators.refresh_skill(project, now)
    task_slots.add_slots(task, slots, most, people, now + skilled_validators.RESERVED_FOR)
    return audit.event(project, actor, "add_votes", task, foil=task.foil_id, votes=most, reserved=len(people))


def votes_and_pairs(rows: Iterable[tuple[Any, ...]]) -> tuple[Counts, dict[int, Pair]]:
    """Return counted votes by foil id and choice, and every pair, of rows with the columns `PAIR`."""
    counts: Counts = {}
    pairs: dict[int, Pair] = {}
    for foil, verdict, slots, in_full, of_item, choice in rows:
        pairs[foil] = Pair(verdict, slots or 0, bool(in_full), bool(of_item))
        if choice is not None:
            counts.setdefault(foil, Counter())[choice] += 1
    return counts, pairs


def revert_vote(item: Item, task: Task, actor: User, reason: str, now: datetime) -> None:
    """Remove a vote from the count: its pair is pending again, and a decided item returns to validation.

    With sequential stopping, or if the pair got more votes, the remaining votes may decide at once.
    """
    Foil.objects.filter(pk__in=task.foils_asked or [task.foil_id]).update(verdict=FoilVerdict.PENDING)
    task_slots.reopen_for_votes(task)
    if item.state != ItemState.IN_VALIDATION:
        also = {"decided_at": None, "unanimous": None}
        move_item(item, "recount", item.subtest.project, actor, reason=reason, also=also)
        flag_captions([item.caption_id])
    if item.subtest.stop_early or task.overlap > item.subtest.votes_wanted:
        apply_vote(item, task, actor, now, says_something=False)


def _unanimous(verdicts: dict[int, str], counts: dict[int, Counter[str]]) -> bool:
    return voting.is_unanimous([counts.get(foil, Counter()) for foil in verdicts])
