"""Standard retrieval among few sampled candidates: the control beside RCAD (Feint6K, Fig. 1b).

Each video's own caption stands among k - 1 captions of other videos, drawn once by a seed, so that RCAD's drop is due
to the counterfactuals and not to having six candidates. Read as RCAD's numbers are, on the same videos.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics import rcad
from evaluation.metrics._choices import ChoiceScores
from evaluation.metrics._intervals import DRAWS, SEED

VERSION = "1"
INPUT = "matrix"
CANDIDATES = 6


def sampled_others(size: int, candidates: int = CANDIDATES, seed: int = SEED) -> NDArray[np.int64]:
    """(size, candidates - 1) places of other records for each of `size`, distinct in a row and never its own.

    EvaluationError with fewer than `candidates` records, or fewer than two candidates.
    """
    if candidates < 2:
        raise EvaluationError(f"{candidates} candidates leave nothing to choose; give at least 2")
    if size < candidates:
        raise EvaluationError(f"{size} records cannot give {candidates} candidates each; give more, or ask for fewer")
    generator = np.random.default_rng(seed)
    others = np.stack([generator.choice(size - 1, candidates - 1, replace=False) for _ in range(size)])
    # Places from the own one on move up by one, which leaves the own one out.
    return others + (others >= np.arange(size)[:, None])


def compute(
    sim: NDArray[Any],
    *,
    ties: str = "half",
    candidates: int = CANDIDATES,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """`sim` (N, N): rows texts, columns videos -> what metrics.rcad gives, over each video's own and sampled texts.

    EvaluationError for another shape, for too few records, and for a similarity that is not finite, naming the cell.
    """
    if sim.ndim != 2 or sim.shape[0] != sim.shape[1] or not sim.shape[0]:
        raise EvaluationError(
            f"similarities have the shape {sim.shape}; give a square matrix: row i is the text of the video in column i"
        )
    size = len(sim)
    own = np.arange(size)
    rows = np.column_stack([own, sampled_others(size, candidates, seed)])
    scores = np.asarray(sim[rows, own[:, None]], dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        video, place = (int(each) for each in wrong[0])
        row = int(rows[video, place])
        where = f"row {row + 1}, column {video + 1}"
        raise EvaluationError(f"{where}: similarity is {scores[video, place]}; give a finite number for every pair")
    names = [str(k) for k in range(size)]
    found = rcad.compute(ChoiceScores(names, scores, np.zeros(size, dtype=np.int64), names), ties=ties, draws=draws)
    return {**found, "candidates": candidates, "seed": seed}
