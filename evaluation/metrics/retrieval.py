"""Standard retrieval over N texts and N videos: text-to-video and video-to-text R@1, R@5, R@10, ranks.

Text i belongs to video i. Similarities come in blocks of rows (a memory-mapped file, or products of embeddings made
one block at a time), so N = 100,000 needs some tens of MiB: never an N x N x d tensor, never all of N x N at once.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from evaluation.metrics.ties import Floats, RivalCounts, hit, rank

VERSION = "1"
INPUT = "matrix"
CUTS = (1, 5, 10)
# How many of the dual encoder's best a joint encoder puts in order.
TOP = 128
BLOCK_BYTES = 32 * 2**20

Block = tuple[int, NDArray[Any]]
Counts = NDArray[np.int64]


def compute(sim: NDArray[Any], *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """`sim` (N, N): rows texts, columns videos, higher is better; any array that can be sliced by rows.

    Gives {"t2v": {...}, "v2t": {...}}, shares in 0..1. Raises EvaluationError for another shape, and for NaN or
    infinity, naming the cell.
    """
    if sim.ndim != 2 or sim.shape[0] != sim.shape[1] or not sim.shape[0]:
        raise EvaluationError(
            f"similarities have the shape {sim.shape}; give a square matrix: row i is the text of the video in column i"
        )
    size = len(sim)
    own = np.asarray(sim[np.arange(size), np.arange(size)])
    by_text, by_video = np.zeros((3, size), dtype=np.int64), np.zeros((3, size), dtype=np.int64)
    for start, block in _row_blocks(sim):
        rows = np.arange(start, start + len(block))[:, None]
        columns = np.arange(size)[None, :]
        by_text[:, rows[:, 0]] = _count(block, own[rows], columns < rows, axis=1)
        by_video += _count(block, own[None, :], rows < columns, axis=0)
    return _both(by_text, by_video, ties, draws, seed)


def from_embeddings(
    texts: NDArray[Any], videos: NDArray[Any], *, ties: str = "half", draws: int = DRAWS, seed: int = SEED
) -> dict[str, Any]:
    """The same from `texts` (N, d) and `videos` (N, d): inner products in float32, one block of rows at a time."""
    _check_embeddings(texts, videos)
    left, right = texts.astype(np.float32, copy=False), videos.astype(np.float32, copy=False)
    return _both(_count_products(left, right), _count_products(right, left), ties, draws, seed)


def reranked(
    texts: NDArray[Any],
    videos: NDArray[Any],
    joint: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]],
    *,
    top: int = TOP,
    ties: str = "half",
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """A dual encoder's `texts` (N, d) and `videos` (N, d), its best `top` a query put in order by a joint encoder.

    `joint(texts, videos)` scores m pairs given as two (m,) arrays of places. What the dual encoder left out of the best
    `top` stays below them in its own order. The result says `reranked_top`, since it is another system than either.
    """
    _check_embeddings(texts, videos)
    left, right = texts.astype(np.float32, copy=False), videos.astype(np.float32, copy=False)
    by_text = _count_reranked(left, right, joint, top)
    by_video = _count_reranked(right, left, lambda queries, gallery: joint(gallery, queries), top)
    return {**_both(by_text, by_video, ties, draws, seed), "reranked_top": min(top, len(texts))}


def _count_reranked(
    queries: NDArray[np.float32],
    gallery: NDArray[np.float32],
    joint: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]],
    top: int,
) -> Counts:
    size = len(queries)
    depth = min(top, size)
    counts = np.zeros((3, size), dtype=np.int64)
    for start, end in _steps(size, 4 * size):
        block = queries[start:end] @ gallery.T
        _refuse_nonfinite(start, block)
        for row, first in enumerate(block):
            query = start + row
            # Best first; equal ones by place, so that the depth cuts the same ones off on every machine.
            best = np.lexsort((np.arange(size), -first))[:depth]
            again = np.asarray(joint(np.full(depth, query), best), dtype=np.float64)
            if not np.isfinite(again).all():
                raise EvaluationError(f"query {query + 1}: the joint encoder gave {again}; give finite numbers")
            counts[:, query] = _place_after(query, first, best, again)
    return counts


def _place_after(query: int, first: NDArray[Any], best: Counts, again: Floats) -> tuple[int, int, int]:
    """(above, level, level and earlier) of the right answer; as in `_count`, it counts as level with itself."""
    here = np.flatnonzero(best == query)
    if len(here):
        own = again[here[0]]
        level = again == own
        return int((again > own).sum()), int(level.sum()), int((level & (best < query)).sum())
    rest = np.ones(len(first), dtype=bool)
    rest[best] = False
    level = rest & (first == first[query])
    above = len(best) + int((rest & (first > first[query])).sum())
    return above, int(level.sum()), int((level & (np.arange(len(first)) < query)).sum())


def _check_embeddings(texts: NDArray[Any], videos: NDArray[Any]) -> None:
    if texts.shape != videos.shape or texts.ndim != 2 or not len(texts):
        raise EvaluationError(f"embeddings have the shapes {texts.shape} and {videos.shape}; give two equal (N, d)")


def _count_products(queries: NDArray[np.float32], gallery: NDArray[np.float32]) -> Counts:
    size = len(queries)
    counts = np.zeros((3, size), dtype=np.int64)
    columns = np.arange(size)[None, :]
    for start, end in _steps(size, 4 * size):
        block = queries[start:end] @ gallery.T
        _refuse_nonfinite(start, block)
        rows = np.arange(start, end)[:, None]
        # The right answer's score is taken out of the product itself: another product could differ in its last bit.
        own = block[rows - start, rows]
        counts[:, start:end] = _count(block, own, columns < rows, axis=1)
    return counts


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


def _count(block: NDArray[Any], own: NDArray[Any], earlier: NDArray[np.bool_], axis: int) -> Counts:
    """(3, size) rivals above, level and level-and-earlier along `axis`; the right answer itself counts as level."""
    level = block == own
    return np.stack([(block > own).sum(axis=axis), level.sum(axis=axis), (level & earlier).sum(axis=axis)])


def _both(by_text: Counts, by_video: Counts, ties: str, draws: int, seed: int) -> dict[str, Any]:
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
