"""Score arrays, item facts and votes for tests, from plain lists."""

import numpy as np

from evaluation.analyses.analysis_inputs import CHOICES, ItemFacts, ProficiencyFacts, Votes
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.pairwise import PairScores
from evaluation.score_files.scores import padded


def pair_scores(main, proficiency=None, subtests=None, tests=None, clusters=None) -> PairScores:
    names = [f"i{n}" for n in range(len(main))]
    subtests = subtests or ["only"] * len(main)
    return PairScores(
        ids=names,
        main=padded(main),
        proficiency=padded(proficiency or [[] for _ in main]),
        subtests=subtests,
        tests=tests or subtests,
        clusters=clusters or names,
    )


def choice_scores(scores, right=None, clusters=None) -> ChoiceScores:
    names = [f"r{n}" for n in range(len(scores))]
    columns = np.array(right or [0] * len(scores), dtype=np.int64)
    return ChoiceScores(names, padded(scores), columns, clusters or names)


def item(caption, *foils, name="i", subtest="s", test="", votes=None, valid=None, unanimous=None, simpler=None):
    """An item's facts; `votes` one tally or several, `simpler` (caption, foil, valid)."""
    tallies = () if votes is None else tuple(votes) if isinstance(votes[0], tuple) else (tuple(votes),)
    proficiency = ProficiencyFacts(simpler[0], (simpler[1],), simpler[2]) if simpler else None
    return ItemFacts(name, subtest, caption, foils, test, tallies, valid, unanimous, proficiency)


def votes_of(*rows) -> Votes:
    """(unit, annotator, choice in CHOICES or "other", position or 0) -> arrays."""
    units, people = list(dict.fromkeys(r[0] for r in rows)), list(dict.fromkeys(r[1] for r in rows))
    codes = [(units.index(r[0]), people.index(r[1]), (*CHOICES, "other").index(r[2]), r[3]) for r in rows]
    table = np.array(codes, dtype=np.int64)
    return Votes(table[:, 0], table[:, 1], table[:, 2], table[:, 3], units, people, np.arange(len(units)))
