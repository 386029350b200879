"""Compute standard retrieval among few sampled candidates: the control next to RCAD (Feint6K, Fig. 1b).

Each video's own caption is ranked among k - 1 captions of other videos, drawn once by a seed. RCAD's drop is then due
to the counterfactuals and not to the six candidates. The numbers mean the same as RCAD's, on the same videos.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics import rcad
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.comparison import paired_difference
from evaluation.metrics.intervals import DRAWS, SEED
from evaluation.metrics.ties import hit, standing
from foilworks.core.text.quoting import quoted

VERSION = "1"
INPUT = "matrix"
CANDIDATES = 6


def sampled_others(size: int, candidates: int = CANDIDATES, seed: int = SEED) -> NDArray[np.int64]:
    """Sample (size, candidates - 1) other records for each of `size`, distinct in a row and never its own.

    EvaluationError with fewer than `candidates` records, or fewer than two candidates.
    """
    if candidates < 2:
        raise EvaluationError(f"{candidates} candidates are too few; give at least 2")
    if size < candidates:
        raise EvaluationError(
            f"{size} records are too few for {candidates} candidates each; give more records, or fewer candidates"
        )
    generator = np.random.default_rng(seed)
    offsets = np.stack([generator.choice(size - 1, candidates - 1, replace=False) for _ in range(size)])
    # Indices from its own on move up by one, which leaves its own out.
    return offsets + (offsets >= np.arange(size)[:, None])


def sampled_captions(
    names: Sequence[str],
    sources: Sequence[str],
    captions: Sequence[str],
    *,
    candidates: int = CANDIDATES,
    seed: int = SEED,
) -> list[tuple[str, ...]]:
    """Sample, for each of n items, `candidates` - 1 distinct captions of other source videos.

    An item's sample depends only on its name, the seed and the captions: an added or removed caption changes few
    samples, so a rerun queries few new texts. EvaluationError if an item has too few captions to draw from.
    """
    if candidates < 2:
        raise EvaluationError(f"{candidates} candidates are too few; give at least 2")
    pool = sorted(set(captions))
    index_of = {caption: k for k, caption in enumerate(pool)}
    captions_of_source: dict[str, set[int]] = defaultdict(set)
    for source, caption in zip(sources, captions, strict=True):
        captions_of_source[source].add(index_of[caption])
    marks = np.array([_text_hash(caption) for caption in pool], dtype=np.uint64)
    samples = []
    for name, source in zip(names, sources, strict=True):
        keys = _mix_bits(marks ^ np.uint64(_text_hash(f"{seed}\0{name}")))
        keys[list(captions_of_source[source])] = np.iinfo(np.uint64).max
        if len(pool) - len(captions_of_source[source]) < candidates - 1:
            raise EvaluationError(
                f"item {quoted(name)}: {candidates} candidates need {candidates - 1} captions of other videos, but "
                f"there are {len(pool) - len(captions_of_source[source])}; leave the control out"
            )
        best = np.argpartition(keys, candidates - 2)[: candidates - 1]
        samples.append(tuple(pool[k] for k in best[np.argsort(keys[best])].tolist()))
    return samples


def _text_hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Run the finaliser of splitmix64: neighbouring values become far apart (Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _of_true_texts(sim: NDArray[Any]) -> NDArray[Any]:
    rows, columns = sim.shape if sim.ndim == 2 else (0, 0)
    if rows and rows == CANDIDATES * columns:
        return sim[::CANDIDATES]
    if columns and columns == CANDIDATES * rows:
        return sim.T[::CANDIDATES]
    return sim


def compute(
    sim: NDArray[Any],
    *,
    ties: str = "half",
    candidates: int = CANDIDATES,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Compute what metrics.rcad gives, over each video's own and sampled texts; `sim` (N, N): rows texts, columns
    videos.

    Of the authors' (6N, N), or (N, 6N), the true texts count: every sixth.
    EvaluationError for another shape, for too few records, and for a similarity that is not finite, naming the cell.
    """
    sim = _of_true_texts(sim)
    if sim.ndim != 2 or sim.shape[0] != sim.shape[1] or not sim.shape[0]:
        raise EvaluationError(
            f"similarities have the shape {sim.shape}; give a square matrix: row i is the text of the video in column i"
        )
    size = len(sim)
    diagonal = np.arange(size)
    rows = np.column_stack([diagonal, sampled_others(size, candidates, seed)])
    scores = np.asarray(sim[rows, diagonal[:, None]], dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        video, candidate = (int(index) for index in wrong[0])
        row = int(rows[video, candidate])
        where = f"row {row + 1}, column {video + 1}"
        raise EvaluationError(f"{where}: similarity is {scores[video, candidate]}; give a finite number for every pair")
    names = [str(k) for k in range(size)]
    metrics = rcad.compute(ChoiceScores(names, scores, np.zeros(size, dtype=np.int64), names), ties=ties, draws=draws)
    return {**metrics, "candidates": candidates, "seed": seed}


def beside(
    ranked: ChoiceScores, sampled: ChoiceScores, params: Mapping[str, Any], ties: str, draws: int = DRAWS
) -> dict[str, Any]:
    """Compute metrics.rcad of `sampled` (own caption first), with `drop`: R@1 of `sampled` minus R@1 of `ranked`.

    `ranked` are the counterfactuals; the drop is a paired difference over the items in both.
    """
    metrics = rcad.compute(sampled, ties=ties, draws=draws)
    index_of = {name: k for k, name in enumerate(ranked.ids)}
    shared_rows = [index_of[name] for name in sampled.ids]
    hard = hit(standing(ranked.scores[shared_rows], ranked.right[shared_rows]), ties)
    easy = hit(standing(sampled.scores, sampled.right), ties)
    return {**metrics, **params, "drop": paired_difference(easy, hard, sampled.clusters, draws=draws).plain()}
