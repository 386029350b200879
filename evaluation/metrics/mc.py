"""Compute multiple choice accuracy over a video's candidate captions (contrast sets, Sec. 4.1; 5 candidates there)."""

from typing import Any

import numpy as np

from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals, t_interval
from evaluation.metrics.ties import hit, standing

VERSION = "2"
INPUT = "choices"


def compute(data: ChoiceScores, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute accuracy in 0..1 with its cluster-bootstrap and t intervals, chance, and the share of ties for the best
    score.

    Chance is None for predictions, because they do not give the number of candidates.
    """
    data.refuse_nothing()
    where = standing(data.scores, data.right)
    credit = hit(where, ties)
    (interval,) = mean_intervals(credit[:, None], data.clusters, draws=draws, seed=seed)
    return {
        "tie_policy": ties,
        "accuracy": mean(credit),
        "n": len(data.ids),
        "ties": mean(where.tie_for_best.astype(np.float64)),
        "ci": interval,
        "t_ci": t_interval(credit, data.clusters),
        "chance": mean(where.chance) if data.all_candidates else None,
    }
