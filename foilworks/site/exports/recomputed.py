"""Compute the tables of an export that follow from its items and votes, and recompute them to verify it.

A table contains nothing that the files next to it do not, so a changed cell is found even if the hashes were
recomputed.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from evaluation.analyses.analysis_inputs import CHOICES, ItemFacts, ProficiencyFacts, Votes, with_hard_foils
from evaluation.analyses.registry import REPORTS
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import DECIDED, VoteRow, votes_from_rows
from evaluation.scoring.human_baseline import line_of
from evaluation.scoring.run_results import Axes
from foilworks.core.corpus.records import ReleaseVote, in_order
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.hard_foils import Candidates
from foilworks.core.corpus.rules.states import ItemState, current_word, drops_out
from foilworks.core.corpus.vote_records import is_anonymous_vote
from foilworks.core.text.registry import load

Item = Mapping[str, Any]
# Counts of choices by foil.
Tallies = dict[int, Counter[str]]
VALIDATION, BASELINE, COUNTED = "validation", "baseline", "counted"
BY_STATE = {**DECIDED, ItemState.REQUEUED: False}


class Evidence:
    """The items and votes of an export, with the facts that several tables are computed from."""

    def __init__(self, items: Iterable[Item], votes: Iterable[ReleaseVote]) -> None:
        self.items, self.votes = items, votes
        self._facts: list[ItemFacts] | Votes | None = None

    def item_facts(self) -> list[ItemFacts]:
        """Return the facts of the items. Only the facts asked for last, of items or votes, are in memory."""
        if not isinstance(self._facts, list):
            self._facts = None
            self._facts = item_facts_of(self.items, self.votes)
        return self._facts

    def vote_facts(self) -> Votes:
        """Return the facts of the votes, as `item_facts`."""
        if not isinstance(self._facts, Votes):
            self._facts = None
            self._facts = vote_facts_of(self.items, self.votes)
        return self._facts


def recomputed(kind: str, evidence: Evidence, exported: Any = None) -> Any:
    """Return the table RECOMPUTED[kind] from the items and votes of an export; None if it has no content.

    `exported`: the table of the export, if there is one; a solver is not repeated then. A blind audit of before hard
    foils were known counted all foils alike.
    """
    if kind == "blind" and exported and "hard_foils" not in exported["overall"]:
        evidence = Evidence([{**item, "extra": {}, "facts": {}} for item in evidence.items], evidence.votes)
    try:
        table = without_solver(evidence) if kind == "blind" and exported else RECOMPUTED[kind](kind, evidence)
    except EvaluationError:  # no votes, no items: then there is no such table
        return None
    # With the same types as when read from a file.
    return json.loads(json.dumps(table, allow_nan=False))


def item_facts_of(items: Iterable[Item], votes: Iterable[ReleaseVote]) -> list[ItemFacts]:
    """Return the items as analyses take them, by subtest and id, without retracted and deleted ones."""
    tallies = _tallies_of(_counted(votes, VALIDATION))
    stops = not all(vote.compared for vote in _counted(votes, VALIDATION))
    compared = _tallies_of(vote for vote in _counted(votes, VALIDATION) if vote.compared) if stops else None
    facts: list[ItemFacts] = []

    def candidates() -> Iterator[Candidates]:
        for item in filter(_is_live, in_order(items, lambda item: (item["subtest"], item["id"]))):
            facts.append(_facts(item, tallies.get(item["id"], {}), _of_item(compared, item["id"])))
            texts = facts[-1].caption, facts[-1].foils
            yield Candidates(item["subtest"], *texts, item.get("extra") or {}, item.get("facts") or {})

    return with_hard_foils(facts, candidates())


def _is_live(item: Item) -> bool:
    return item.get("state") not in (None, ItemState.RETRACTED)


def _tallies_of(votes: Iterable[ReleaseVote]) -> dict[str, Tallies]:
    """Count choices by item, then by foil (-1 if votes name none).

    Items with equal counts share them: there are few different ones, and a hundred thousand items.
    """
    tallies: dict[str, Tallies] = {}
    steps: dict[tuple[int, int, str], Tallies] = {}
    # By content, so that the same counts in another order of the votes are one.
    shared: dict[str, Tallies] = {}
    none: Tallies = {}
    for vote in votes:
        before, foil = tallies.get(vote.item, none), -1 if vote.foil is None else vote.foil
        step = id(before), foil, vote.choice
        if step not in steps:
            counts = {**before, foil: before.get(foil, Counter()) + Counter([vote.choice])}
            steps[step] = shared.setdefault(json.dumps(counts, sort_keys=True), counts)
        tallies[vote.item] = steps[step]
    return tallies


def _of_item(tallies: dict[str, Tallies] | None, item: str) -> Tallies | None:
    return None if tallies is None else tallies.get(item, {})


def _facts(item: Mapping[str, Any], tallies: Tallies, compared: Tallies | None = None) -> ItemFacts:
    verdicts, state = item["verdicts"], current_word(item["state"])
    if "found_valid" in item:
        valid = item["found_valid"]
        unanimous = valid and item["unanimous"] is True
    else:
        # Older exports have only the state, and counted every requeued item as rejected.
        valid = BY_STATE.get(ItemState(state))
        unanimous = None if valid is None else item["unanimous"] is True
    on_word = item.get("on_publishers_word", False)
    kept_foils = [foil for foil in verdicts if on_word or not drops_out(current_word(foil["verdict"]), state)]
    kept_positions = {-1, *(foil["position"] for foil in kept_foils)}
    counted = sorted(tallies.items())
    foils, kept = tuple(foil["text"] for foil in verdicts), tuple(foil["text"] for foil in kept_foils)
    of_foils = tuple(_tally(counts) for _, counts in counted)
    of_kept = tuple(_tally(counts) for foil, counts in counted if foil in kept_positions)
    pair = item["proficiency"]
    return ItemFacts(
        id=item["id"],
        subtest=sys.intern(item["subtest"]),
        test=sys.intern(item["test"] or item["subtest"]),
        caption=item["caption"],
        video=cluster(item["video"]),
        foils=foils,
        tallies=_one_of_equals(of_foils),
        valid=valid,
        unanimous=unanimous,
        proficiency=pair and ProficiencyFacts(pair["caption"], tuple(pair["foils"]), pair["valid"]),
        kept=(foils if kept == foils else kept) if valid else None,
        kept_tallies=_one_of_equals(of_kept) if valid else None,
        as_published=on_word,
        compared=None
        if compared is None
        else _one_of_equals(
            tuple((foil in kept_positions, _tally(counts)) for foil, counts in sorted(compared.items()))
        ),
    )


@lru_cache(maxsize=10_000)
def _one_of_equals(tallies: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tallies: of a hundred thousand items, few differ."""
    return tallies


def _tally(counts: Mapping[str, int]) -> tuple[int, ...]:
    """Return counts over CHOICES; over three if `other` of a file merges neither, both and cannot tell."""
    if "other" not in counts:
        return tuple(counts.get(choice, 0) for choice in CHOICES)
    caption, foil = counts.get("caption", 0), counts.get("foil", 0)
    return caption, foil, sum(counts.values()) - caption - foil


def vote_facts_of(items: Iterable[Item], votes: Iterable[ReleaseVote]) -> Votes:
    """Return the counted votes on the items of `item_facts_of`, in the file's order; imported ones name nobody."""
    numbers: dict[str, int] = {}
    live = {item["id"] for item in items if _is_live(item)}
    judged = in_order(votes, lambda vote: (vote.item, -1 if vote.foil is None else vote.foil, vote.annotator))
    return votes_from_rows(_row(vote, numbers) for vote in _counted(judged, VALIDATION) if vote.item in live)


def _row(vote: ReleaseVote, numbers: dict[str, int]) -> VoteRow:
    item = numbers.setdefault(vote.item, len(numbers))
    key = vote.item.removeprefix(f"{vote.subtest}:")
    person = None if is_anonymous_vote(vote.source, vote.annotator) else vote.annotator
    return (
        item,
        vote.subtest,
        key,
        vote.foil,
        vote.foil,
        person,
        vote.choice,
        vote.caption_first,
        vote.guideline,
        vote.guideline_of or None,
        vote.compared,
    )


def _counted(votes: Iterable[ReleaseVote], stage: str) -> Iterator[ReleaseVote]:
    return (vote for vote in votes if (vote.stage, vote.state, vote.kind) == (stage, COUNTED, "main"))


def axes_from(items: Iterable[Item]) -> Axes:
    """Return the released items that still exist, as the statistics of models and people take them."""
    axes = Axes([], [], [], [], [], [])
    for record in in_order(items, itemgetter("id")):
        if record.get("released"):
            axes.ids.append(record["id"])
            axes.subtests.append(record["subtest"])
            axes.tests.append(record["test"] or record["subtest"])
            axes.clusters.append(cluster(record["video"]))
            axes.n_foils.append(len(record["foils"]))
            axes.has_pair.append(bool(record["proficiency"] and record["proficiency"]["valid"]))
    return axes


def without_solver(evidence: Evidence) -> Any:
    """Return the blind audit without what a solver makes, which differs in its last digits between machines."""
    return load(REPORTS["blind"]).compute(evidence.item_facts(), is_solved=False)


def _report(kind: str, evidence: Evidence) -> Any:
    analysis = load(REPORTS[kind])
    if analysis.INPUT == "votes":
        return analysis.compute(evidence.vote_facts())
    is_large = kind == "blind" and len(evidence.item_facts()) >= analysis.MANY_TEXTS
    return (analysis.compute_in_process if is_large else analysis.compute)(evidence.item_facts())


def _human(_kind: str, evidence: Evidence) -> Any:
    """Return the human baseline over all items and by subtest; EvaluationError if nobody answered it."""
    tallies: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for vote in _counted(evidence.votes, BASELINE):
        tallies[vote.item][0] += vote.choice == "caption"
        tallies[vote.item][1] += 1
    axes = axes_from(evidence.items)
    answers = {name: (right, total) for name, (right, total) in tallies.items()}
    overall = line_of(answers, axes, "")
    if not overall:
        raise EvaluationError("nobody answered the human baseline")
    by_subtest = {name: line_of(answers, axes, f"subtest:{name}") for name in dict.fromkeys(axes.subtests)}
    return {"overall": overall, "subtests": {name: line for name, line in by_subtest.items() if line}}


# Those of the items come before those of the votes (`Evidence.item_facts`).
RECOMPUTED: dict[str, Callable[[str, Evidence], Any]] = {
    "validation": _report,
    "divergence": _report,
    "blind": _report,
    "agreement": _report,
    "position": _report,
    "human": _human,
}
