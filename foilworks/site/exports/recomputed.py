"""Compute the tables of an export that follow from its items and votes, and recompute them to verify it.

A table contains nothing that the files next to it do not, so a changed cell is found even if the hashes were
recomputed.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluation.analyses.analysis_inputs import CHOICES, ItemFacts, ProficiencyFacts, Votes, with_hard_foils
from evaluation.analyses.registry import REPORTS
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import DECIDED, VoteRow, votes_from_rows
from evaluation.scoring.clip_keys import cluster
from evaluation.scoring.human_baseline import line_of
from evaluation.scoring.run_results import Axes
from foilworks.core.corpus.records import ReleaseVote
from foilworks.core.corpus.rules.hard_foils import Candidates
from foilworks.core.corpus.rules.states import ItemState, current_word, drops_out
from foilworks.core.corpus.vote_records import is_anonymous_vote
from foilworks.core.text.registry import load

Items = Sequence[Mapping[str, Any]]
VoteList = Sequence[ReleaseVote]
VALIDATION, BASELINE, COUNTED = "validation", "baseline", "counted"
BY_STATE = {**DECIDED, ItemState.REQUEUED: False}


def recomputed(kind: str, items: Items, votes: VoteList, told: Any = None) -> Any:
    """Return the table RECOMPUTED[kind] from the items and votes of an export; None if it has no content.

    `told`: the table of the export. A blind audit of before hard foils were known counted all foils alike.
    """
    if kind == "blind" and told and "hard_foils" not in told["overall"]:
        items = [{**item, "extra": {}, "facts": {}} for item in items]
    try:
        table = RECOMPUTED[kind](kind, items, votes)
    except EvaluationError:  # no votes, no items: then there is no such table
        return None
    # With the same types as when read from a file.
    return json.loads(json.dumps(table, allow_nan=False))


def item_facts_of(items: Items, votes: Iterable[ReleaseVote]) -> list[ItemFacts]:
    """Return the items as analyses take them, by subtest and id, without retracted and deleted ones."""
    judged = list(_counted(votes, VALIDATION))
    tallies = _tallies_of(judged)
    compared = _tallies_of(vote for vote in judged if vote.compared) if not all(v.compared for v in judged) else None
    ordered = sorted(_live(items), key=lambda item: (item["subtest"], item["id"]))
    found = [_facts(item, tallies.get(item["id"], {}), _of_item(compared, item["id"])) for item in ordered]
    read = [
        Candidates(each.subtest, each.caption, each.foils, item.get("extra") or {}, item.get("facts") or {})
        for item, each in zip(ordered, found, strict=True)
    ]
    return with_hard_foils(found, read)


def _live(items: Items) -> Items:
    return [item for item in items if item.get("state") not in (None, ItemState.RETRACTED)]


def _tallies_of(votes: Iterable[ReleaseVote]) -> dict[str, dict[int, Counter[str]]]:
    """Count choices by item, then by foil (-1 if votes name none)."""
    found: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for vote in votes:
        found[vote.item][-1 if vote.foil is None else vote.foil][vote.choice] += 1
    return found


def _of_item(tallies: dict[str, dict[int, Counter[str]]] | None, item: str) -> Mapping[int, Counter[str]] | None:
    return None if tallies is None else tallies.get(item, {})


def _facts(
    item: Mapping[str, Any], tallies: Mapping[int, Counter[str]], compared: Mapping[int, Counter[str]] | None = None
) -> ItemFacts:
    own, state = item["verdicts"], current_word(item["state"])
    if "found_valid" in item:
        valid = item["found_valid"]
        unanimous = valid and item["unanimous"] is True
    else:
        # Older exports have only the state, and counted every requeued item as rejected.
        valid = BY_STATE.get(ItemState(state))
        unanimous = None if valid is None else item["unanimous"] is True
    on_word = item.get("on_publishers_word", False)
    kept = [foil for foil in own if on_word or not drops_out(current_word(foil["verdict"]), state)]
    left = {-1, *(foil["position"] for foil in kept)}
    counted = sorted(tallies.items())
    pair = item["proficiency"]
    return ItemFacts(
        id=item["id"],
        subtest=item["subtest"],
        test=item["test"] or item["subtest"],
        caption=item["caption"],
        foils=tuple(foil["text"] for foil in own),
        tallies=tuple(_tally(counts) for _, counts in counted),
        valid=valid,
        unanimous=unanimous,
        proficiency=pair and ProficiencyFacts(pair["caption"], tuple(pair["foils"]), pair["valid"]),
        kept=tuple(foil["text"] for foil in kept) if valid else None,
        kept_tallies=tuple(_tally(counts) for foil, counts in counted if foil in left) if valid else None,
        as_published=on_word,
        compared=None
        if compared is None
        else tuple((foil in left, _tally(of)) for foil, of in sorted(compared.items())),
    )


def _tally(counts: Mapping[str, int]) -> tuple[int, ...]:
    """Return counts over CHOICES; over three if `other` of a file merges neither, both and cannot tell."""
    if "other" not in counts:
        return tuple(counts.get(choice, 0) for choice in CHOICES)
    caption, foil = counts.get("caption", 0), counts.get("foil", 0)
    return caption, foil, sum(counts.values()) - caption - foil


def vote_facts_of(items: Items, votes: Iterable[ReleaseVote]) -> Votes:
    """Return the counted votes on the items of `item_facts_of`, in the file's order; imported ones name nobody."""
    places: dict[str, int] = {}
    there = {item["id"] for item in _live(items)}
    return votes_from_rows(_row(vote, places) for vote in _counted(votes, VALIDATION) if vote.item in there)


def _row(vote: ReleaseVote, places: dict[str, int]) -> VoteRow:
    item = places.setdefault(vote.item, len(places))
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


def _counted(votes: Iterable[ReleaseVote], stage: str) -> Iterable[ReleaseVote]:
    chosen = [vote for vote in votes if (vote.stage, vote.state, vote.kind) == (stage, COUNTED, "main")]
    return sorted(chosen, key=lambda vote: (vote.item, -1 if vote.foil is None else vote.foil, vote.annotator))


def axes_from(items: Items) -> Axes:
    """Return the released items that still exist, as the statistics of models and people take them."""
    records = sorted((item for item in items if item.get("released")), key=lambda item: item["id"])
    return Axes(
        ids=[record["id"] for record in records],
        subtests=[record["subtest"] for record in records],
        tests=[record["test"] or record["subtest"] for record in records],
        clusters=[cluster(record["video"]) for record in records],
        n_foils=[len(record["foils"]) for record in records],
        has_pair=[bool(record["proficiency"] and record["proficiency"]["valid"]) for record in records],
    )


def _report(kind: str, items: Items, votes: VoteList) -> Any:
    analysis = load(REPORTS[kind])
    facts = vote_facts_of if analysis.INPUT == "votes" else item_facts_of
    return analysis.compute(facts(items, votes))


def _human(_kind: str, items: Items, votes: VoteList) -> Any:
    """Return the human baseline over all items and by subtest; EvaluationError if nobody answered it."""
    tallies: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for vote in _counted(votes, BASELINE):
        tallies[vote.item][0] += vote.choice == "caption"
        tallies[vote.item][1] += 1
    axes = axes_from(items)
    found = {name: (right, total) for name, (right, total) in tallies.items()}
    overall = line_of(found, axes, "")
    if not overall:
        raise EvaluationError("nobody answered the human baseline")
    by_subtest = {name: line_of(found, axes, f"subtest:{name}") for name in dict.fromkeys(axes.subtests)}
    return {"overall": overall, "subtests": {name: line for name, line in by_subtest.items() if line}}


RECOMPUTED: dict[str, Callable[[str, Items, VoteList], Any]] = {
    "validation": _report,
    "agreement": _report,
    "divergence": _report,
    "blind": _report,
    "position": _report,
    "human": _human,
}
