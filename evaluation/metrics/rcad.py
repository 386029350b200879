"""Compute retrieval from counterfactually augmented data (RCAD), as in (Feint6K, Secs. 3.1 and 5.1).

R@k and ranks of the positive among its own candidates (6 in Feint6K). Under `half` tied candidates share their mean
rank and R@k is the expectation over random tie-breaking; `optimistic` agrees with the published script.
"""

from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.intervals import DRAWS, SEED, SHARES, mean, mean_intervals
from evaluation.metrics.ties import hit, rank, standing

VERSION = "2"
INPUT = "choices"
CUTS = (1, 2, 3)


def compute(data: ChoiceScores, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute R@1, R@2, R@3 in 0..1 with cluster-bootstrap intervals, mean and median rank (1 is best), share
    of ties."""
    data.refuse_nothing()
    if not data.all_candidates:
        raise EvaluationError("predictions have no ranks; use mc, or give scores")
    where = standing(data.scores, data.right)
    hits = np.column_stack([hit(where, ties, k) for k in CUTS])
    ranks = rank(where, ties)
    bounds = [SHARES] * len(CUTS) + [(1.0, float(where.choices.max()))]
    columns = np.column_stack([hits, ranks])
    intervals = mean_intervals(columns, data.clusters, bounds=bounds, draws=draws, seed=seed)
    return {
        "tie_policy": ties,
        **{f"R@{k}": mean(hits[:, column]) for column, k in enumerate(CUTS)},
        "mean_rank": mean(ranks),
        "median_rank": float(np.median(ranks)),
        "n": len(data.ids),
        **{f"R@{k}_ci": intervals[column] for column, k in enumerate(CUTS)},
        "mean_rank_ci": intervals[len(CUTS)],
        "ties": mean(where.tie_for_best.astype(np.float64)),
        "chance": {f"R@{k}": mean(np.minimum(1.0, k / where.choices)) for k in CUTS},
    }
