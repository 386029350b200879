"""Compute accuracy by the length of the video, and the distribution of lengths (ViLMA, Sec. D and Fig. 23).

Six groups: of equal numbers of items (`quantile`, default) or of equal width in log seconds (`log`).
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.scored_items import Floats, ScoredItems, by_group, need, number
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED
from foilworks.core.text.quoting import quoted

VERSION = "3"
INPUT = "scored"
GROUPS = 6
BINS = 20
CUTS = ("quantile", "log")


def compute(
    items: ScoredItems, *, cut: str = "quantile", ties: str = "half", draws: int = DRAWS, seed: int = SEED
) -> dict[str, Any]:
    """Return rows by model and group of seconds; `histogram`: items in 20 bins of equal width in log10 seconds.

    Items whose length is unknown or not positive are left out and counted in `n_unknown`.
    """
    seconds = np.array([number(facts, "duration") for facts in items.facts])
    has_length = seconds > 0
    need(
        has_length,
        "no item has the fact: video's length (`duration`)"
        "; give it as a fact of the items (or next to the scores in the file)",
    )
    edges = _edges(seconds[has_length], cut)
    groups: dict[str, NDArray[np.bool_]] = {}
    for index, (name, (low, high)) in enumerate(zip(_names(edges), pairwise(edges.tolist()), strict=True)):
        last = index == len(edges) - 2
        groups[name] = has_length & (seconds >= low) & ((seconds <= high) if last else (seconds < high))
    logs = np.log10(seconds[has_length])
    counts, bins = np.histogram(logs, BINS)
    return {
        "rows": by_group(items, groups, ties, draws=draws, seed=seed),
        "cut": cut,
        "edges": edges.tolist(),
        "histogram": {"log10_edges": bins.tolist(), "counts": counts.tolist()},
        "n_unknown": int((~has_length).sum()),
    }


def _names(edges: Floats) -> list[str]:
    """Name each group with enough digits to distinguish all edges, also for clips of nearly equal length."""
    for digits in range(3, 18):
        edge_texts = [f"{edge:.{digits}g}" for edge in edges.tolist()]
        if len(set(edge_texts)) == len(set(edges.tolist())):
            break
    return [f"{low}–{high} s" for low, high in pairwise(edge_texts)]


def _edges(seconds: Floats, cut: str) -> Floats:
    """Return rising edges of at most six groups; equal quantiles are merged."""
    if cut not in CUTS:
        raise EvaluationError(f"unknown cut {quoted(cut)}; choose one of: {', '.join(CUTS)}")
    if cut == "log":
        edges = np.geomspace(seconds.min(), seconds.max(), GROUPS + 1)
        edges[0], edges[-1] = seconds.min(), seconds.max()
    else:
        edges = np.quantile(seconds, np.linspace(0, 1, GROUPS + 1))
    distinct = np.unique(edges)
    return distinct if len(distinct) > 1 else np.array([distinct[0], distinct[0]])
