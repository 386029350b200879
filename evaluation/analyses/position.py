"""Test whether validators prefer the first text (docs/reference/formulas.md#metric-position).

By design, the caption is the first text in half of the tasks. Without a bias, the share of "first" among the votes for
one of the two texts is .5, whatever the foils are like. A bias of one person shows in their own row.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.analysis_inputs import ALL_VOTES, Votes, coded, compared_part
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals, wilson

VERSION = "4"
INPUT = "votes"


def compute(votes: Votes, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute the share of "first" among one-sided votes, with a bootstrap interval over items, and of captions shown
    first.

    Votes without a position of the caption (from files) are left out and counted; the shares are None if no vote
    remains.
    """
    votes, basis = compared_part(votes)
    placed = votes.position > 0
    placed_votes = replace(
        votes,
        unit=votes.unit[placed],
        annotator=votes.annotator[placed],
        choice=votes.choice[placed],
        position=votes.position[placed],
    )
    codes, _ = coded(placed_votes, "shown")
    sided = codes <= 1
    first = (codes == 0).astype(np.float64)[sided]
    interval = None
    if len(first):
        items = [str(item) for item in placed_votes.unit_items[placed_votes.unit[sided]]]
        (interval,) = mean_intervals(first[:, None], items, draws=draws, seed=seed)
    return {
        **({} if basis == ALL_VOTES else {"basis": basis}),
        "first_share": mean(first) if len(first) else None,
        "ci": interval,
        "n": len(first),
        "caption_first_share": mean((placed_votes.position == 1).astype(np.float64)) if placed.any() else None,
        "n_without_position": int((~placed).sum()),
        "annotators": [_row_of_person(placed_votes, k, codes) for k in range(len(votes.annotator_names))],
    }


def _row_of_person(votes: Votes, person: int, codes: NDArray[np.int64]) -> dict[str, Any]:
    codes_of_person = codes[(votes.annotator == person) & (codes <= 1)]
    first = int((codes_of_person == 0).sum())
    return {
        "annotator": votes.annotator_names[person],
        "n": len(codes_of_person),
        "first_share": first / len(codes_of_person) if len(codes_of_person) else None,
        "ci": wilson(first, len(codes_of_person)),
    }
