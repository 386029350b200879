"""From votes to the verdict of a pair, an item and a caption. Pure; takes counted votes only.

A pair gets its verdict when all required votes are in (docs/reference/formulas.md#metric-verdict). With sequential
stopping, it gets it as soon as no further vote can change it. A pair that divides people may get more votes
(docs/decisions/0105-stopping-votes.md). ViLMA asks for at least two of three annotators who chose
the caption alone (ViLMA, Secs. 3.7 and B.1).
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.rules.ordering import seeded_share
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState

CAPTION, FOIL, NEITHER, BOTH, CANNOT_TELL = "caption", "foil", "neither", "both", "cannot_tell"
ANSWERS = ("first", "second", NEITHER, BOTH, CANNOT_TELL)


@dataclass(frozen=True)
class VoteRule:
    """A subtest's rule: votes per pair, votes that an option needs, and when an item of several pairs is valid."""

    wanted: int
    needed: int
    all_pairs: bool = True
    pairs_enough: int = 1
    stop_early: bool = False
    # Share of items that collect all votes although votes stop early.
    full_share: float = 0.0
    # A pair without a decision gets more votes, up to so many; 0: no more.
    most: int = 0
    # These votes are reserved for skilled validators first.
    skilled_first: bool = False


def rule_in_force(subtest: Any) -> VoteRule:
    """Return the rule of a subtest (its row) for tasks that are made from now on."""
    return VoteRule(
        wanted=subtest.votes_wanted,
        needed=subtest.votes_needed,
        all_pairs=subtest.valid_when == "all",
        pairs_enough=subtest.foils_enough,
        stop_early=subtest.stop_early,
        full_share=subtest.full_share,
        most=subtest.votes_max,
        skilled_first=subtest.skilled_first,
    )


def drawn_in_full(seed: object, item: int, share: float) -> bool:
    """Return whether the item collects all votes. The seed is secret, or people could tell which votes are compared."""
    return seeded_share(seed, "judged in full", item) < share


def needed_among(rule: VoteRule, votes: int) -> int:
    """Return the votes that an option needs among more votes: the same share, rounded to the nearest number.

    >>> needed_among(VoteRule(wanted=3, needed=2), 5)
    3
    """
    return max(rule.needed, math.floor(votes * rule.needed / rule.wanted + 0.5)) if rule.wanted else 0


def rule_of_pair(rule: VoteRule, slots: int, *, in_full: bool = False) -> VoteRule:
    """Return the rule of a pair with so many slots.

    A pair that got more votes stops as soon as these have decided; a pair drawn to be judged in full does not stop
    before it has got the usual number.
    """
    if 0 < rule.wanted < slots <= rule.most:
        return replace(rule, wanted=slots, needed=needed_among(rule, slots), stop_early=True)
    return replace(rule, wanted=slots, stop_early=rule.stop_early and not in_full)


def wants_more(counts: Mapping[str, int], rule: VoteRule, slots: int) -> bool:
    """Return whether a disputed pair of so many slots gets the rule's maximum, because these votes could decide it."""
    if not 0 < slots <= rule.wanted < rule.most:
        return False
    return pair_verdict(counts, rule_of_pair(rule, rule.most)) == FoilVerdict.PENDING


def parse_answer(answer: object) -> str | None:
    """Return one of ANSWERS for its name or its place 1 to 5 (a number or its digit); None for anything else."""
    if isinstance(answer, str) and answer in ANSWERS:
        return answer
    names_by_number = {str(number): name for number, name in enumerate(ANSWERS, start=1)}
    return names_by_number.get(str(answer))


def truth_of(answer: str, caption_first: bool) -> str:
    """Return the truth-coded choice of an answer as shown: "first" is the caption if the caption was first."""
    if answer == "first":
        return CAPTION if caption_first else FOIL
    if answer == "second":
        return FOIL if caption_first else CAPTION
    return answer


def answer_of(choice: str, caption_first: bool) -> str:
    """Return the answer as shown for a choice: the inverse of truth_of."""
    if choice not in (CAPTION, FOIL):
        return choice
    return "first" if (choice == CAPTION) == caption_first else "second"


def pair_verdict(counts: Mapping[str, int], rule: VoteRule) -> FoilVerdict:
    """Return PENDING until all votes are in; then VALID if the caption has enough, INVALID if another option has.

    DISPUTED if no option has enough, or if the caption and another have enough and equally many (only possible if half
    the votes are enough).
    """
    remaining_votes = rule.wanted - sum(counts.values())
    if remaining_votes > 0:
        return _sure_already(counts, rule, remaining_votes) if rule.stop_early else FoilVerdict.PENDING
    caption, best_other = _best(counts)
    if caption >= rule.needed and caption > best_other:
        return FoilVerdict.VALID
    if best_other >= rule.needed and best_other > caption:
        return FoilVerdict.INVALID
    return FoilVerdict.DISPUTED


def _sure_already(counts: Mapping[str, int], rule: VoteRule, remaining_votes: int) -> FoilVerdict:
    """Return the verdict that no way of casting the remaining votes can change; PENDING if they still matter."""
    caption, best_other = _best(counts)
    if caption >= rule.needed and best_other + remaining_votes < caption:
        return FoilVerdict.VALID
    if best_other >= rule.needed and caption + remaining_votes < best_other:
        return FoilVerdict.INVALID
    if max(caption, best_other) + remaining_votes < rule.needed:
        return FoilVerdict.DISPUTED
    return FoilVerdict.PENDING


def _best(counts: Mapping[str, int]) -> tuple[int, int]:
    """Return (votes for the caption, votes for the strongest other option)."""
    return counts.get(CAPTION, 0), max((n for option, n in counts.items() if option != CAPTION), default=0)


def item_outcome(verdicts: Collection[str], rule: VoteRule) -> ItemState:
    """Return the item's state after a vote, from its pairs' verdicts; IN_VALIDATION while one is pending.

    All pairs must be valid (then one invalid pair decides), or `pairs_enough` of them (then the others drop out, and
    the item is disputed only where the disputed pairs could still make it valid).
    """
    if not verdicts or FoilVerdict.PENDING in verdicts:
        return ItemState.IN_VALIDATION
    n_valid = sum(verdict == FoilVerdict.VALID for verdict in verdicts)
    n_disputed = sum(verdict == FoilVerdict.DISPUTED for verdict in verdicts)
    enough = len(verdicts) if rule.all_pairs else min(rule.pairs_enough, len(verdicts))
    if n_valid >= enough:
        return ItemState.VALID
    return ItemState.DISPUTED if n_valid + n_disputed >= enough else ItemState.INVALID


def is_unanimous(counts_of_pairs: Iterable[Mapping[str, int]]) -> bool:
    """Return whether every vote on every pair chose the caption alone; False without votes."""
    pairs = list(counts_of_pairs)
    return bool(pairs) and all(counts.get(CAPTION, 0) == sum(counts.values()) > 0 for counts in pairs)


def caption_in_doubt(counts: Mapping[str, int]) -> bool:
    """Return whether over half of the item's validators said "foil only" or "neither" (docs/workflow.md#rule-11)."""
    against = counts.get(FOIL, 0) + counts.get(NEITHER, 0)
    return 2 * against > sum(counts.values())
