"""Compute standard retrieval over N texts and N videos: text-to-video and video-to-text R@1, R@5, R@10, ranks.

Text i belongs to video i. Similarities are read in blocks of rows, so a memory-mapped file is never all in memory.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from evaluation.metrics.ties import RivalCounts, hit, rank

VERSION = "1"
INPUT = "matrix"
CUTS = (1, 5, 10)
BLOCK_BYTES = 32 * 2**20

Block = tuple[int, NDArray[Any]]
Counts = NDArray[np.int64]


def compute(sim: NDArray[Any], *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute both directions of `sim` (N, N): rows texts, columns videos, higher is better; any array sliceable by
    rows.

    Gives {"t2v": {...}, "v2t": {...}}, shares in 0..1. Raises EvaluationError for another shape, and for NaN or
    infinity, naming the cell.
    """
    if sim.ndim != 2 or sim.shape[0] != sim.shape[1] or not sim.shape[0]:
        raise EvaluationError(
            f"similarities have the shape {sim.shape}; give a square matrix: row i is the text of the video in column i"
        )
    size = len(sim)
    own_scores = np.asarray(sim[np.arange(size), np.arange(size)])
    by_text, by_video = np.zeros((3, size), dtype=np.int64), np.zeros((3, size), dtype=np.int64)
    for start, block in _row_blocks(sim):
        rows = np.arange(start, start + len(block))[:, None]
        columns = np.arange(size)[None, :]
        by_text[:, rows[:, 0]] = _count(block, own_scores[rows], columns < rows, axis=1)
        by_video += _count(block, own_scores[None, :], rows < columns, axis=0)
    return _both_directions(by_text, by_video, ties, draws, seed)


def _row_blocks(sim: NDArray[Any]) -> Iterator[Block]:
    for start, end in _steps(len(sim), sim.shape[1] * sim.dtype.itemsize):
        block = np.asarray(sim[start:end])
        _refuse_nonfinite(start, block)
        yield start, block


def _steps(size: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK_BYTES // row_bytes)
    for start in range(0, size, step):
        yield start, min(size, start + step)


def _refuse_nonfinite(start: int, block: NDArray[Any]) -> None:
    wrong = ~np.isfinite(block)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = block[row, column]
        raise EvaluationError(
            f"row {start + row + 1}, column {column + 1}: similarity is {value}; give a finite number for every pair"
        )


def _count(block: NDArray[Any], own_scores: NDArray[Any], earlier: NDArray[np.bool_], axis: int) -> Counts:
    """Count, (3, size), rivals above, level, and level but earlier along `axis`; the right answer itself counts as
    level.
    """
    level = block == own_scores
    return np.stack([(block > own_scores).sum(axis=axis), level.sum(axis=axis), (level & earlier).sum(axis=axis)])


def _both_directions(by_text: Counts, by_video: Counts, ties: str, draws: int, seed: int) -> dict[str, Any]:
    return {
        "tie_policy": ties,
        "n": by_text.shape[1],
        "t2v": _direction(by_text, ties, draws, seed),
        "v2t": _direction(by_video, ties, draws, seed),
    }


def _direction(counts: Counts, ties: str, draws: int, seed: int) -> dict[str, Any]:
    above, level, before = counts
    size = len(above)
    where = RivalCounts(above=above, tied=level - 1, tied_before=before, choices=np.full(size, size))
    hits = np.column_stack([hit(where, ties, k) for k in CUTS])
    ranks = rank(where, ties)
    intervals = mean_intervals(hits, None, draws=draws, seed=seed)
    return {
        **{f"R@{k}": mean(hits[:, column]) for column, k in enumerate(CUTS)},
        "median_rank": float(np.median(ranks)),
        "mean_rank": mean(ranks),
        **{f"R@{k}_ci": intervals[column] for column, k in enumerate(CUTS)},
        "ties": mean(where.tie_for_best.astype(np.float64)),
    }
