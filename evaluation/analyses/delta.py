"""Compute the change of the score when the foil replaces the caption, by type of edit (Feint6K, Sec. 5.2 and Fig. 5).

delta s = s(v, foil) - s(v, caption). Below zero is right. A larger magnitude means that the model is more sensitive to
the type of edit. `edited` of an item says what its foils change (one text for all, or one per foil): object, action,
number ... Of an item with a hard foil among captions of other videos, only the hard foil is an edit and counts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.scored_items import Floats, ScoredItems, counted_foils, n_hard_foils, need
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, SHARES, mean, mean_intervals

VERSION = "5"
INPUT = "scored"
BINS = 40
ALL = "all"


def compute(items: ScoredItems, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute, per model and type of edit, the mean, mean magnitude, median and share above zero.

    Intervals are over videos; the histograms of a model share their edges. Values are in the model's own unit:
    differences of cosines if it gives cosines.
    """
    if not items.models:
        raise EvaluationError("no model has scores; score one first")
    width = max(scores.shape[1] for scores in items.models.values()) - 1
    kinds = np.where(counted_foils(items, width), _kinds(items, width), "")
    need(
        kinds != "",
        "no item has the fact: kind of edit (`edited`)"
        "; give it as a fact of the items (or next to the scores in the file)",
    )
    names = sorted(set(kinds.ravel().tolist()) - {""})
    rows: list[dict[str, Any]] = []
    for model, scores in items.models.items():
        kinds_of_model = kinds[:, : scores.shape[1] - 1]
        deltas = np.where(kinds_of_model == "", np.nan, scores[:, 1:] - scores[:, :1])
        edges = _edges(deltas)
        names_of_rows = [*names, *([ALL] if len(names) > 1 else [])]
        rows += [_row(items, model, name, deltas, kinds_of_model, edges, draws, seed) for name in names_of_rows]
    return {"rows": rows, "kinds": names, "unit": "the model's own", "hard_foils": n_hard_foils(items)}


def _kinds(items: ScoredItems, width: int) -> NDArray[np.str_]:
    """Return what each foil changes, (n, width); empty if unknown."""
    table = [["" for _ in range(width)] for _ in items.ids]
    for row, facts in zip(table, items.facts, strict=True):
        edited = facts.get("edited")
        kinds = edited if isinstance(edited, list | tuple) else [edited] * width
        for foil_index, kind in enumerate(kinds[:width]):
            row[foil_index] = kind if isinstance(kind, str) else ""
    return np.array(table, dtype=str).reshape(len(items.ids), width)


def _edges(deltas: Floats) -> Floats:
    """Return equal bins that hold every delta, with an edge at zero so that no bar straddles right and wrong."""
    measured = deltas[~np.isnan(deltas)]
    reach = float(np.abs(measured).max()) if len(measured) else 0.0
    return np.linspace(-reach or -1.0, reach or 1.0, BINS + 1)


def _row(
    items: ScoredItems,
    model: str,
    kind: str,
    deltas: Floats,
    kinds: NDArray[np.str_],
    edges: Floats,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    selected = ~np.isnan(deltas) & ((kinds == kind) | (kind == ALL))
    values = deltas[selected]
    labels = {"model": model, "category": items.categories.get(model, ""), "group": kind, "n": len(values)}
    if not len(values):
        empty = dict.fromkeys(("mean", "magnitude", "median", "above_zero"))
        return {**labels, **empty, "ci": None, "above_zero_ci": None, "edges": edges.tolist(), "shares": []}
    clusters = [items.clusters[k] for k in np.nonzero(selected)[0].tolist()]
    columns = np.column_stack([values, (values > 0).astype(np.float64)])
    interval, above = mean_intervals(columns, clusters, bounds=[None, SHARES], draws=draws, seed=seed)
    counts, _ = np.histogram(values, edges)
    return {
        **labels,
        "mean": mean(values),
        "ci": interval,
        "magnitude": mean(np.abs(values)),
        "median": float(np.median(values)),
        "above_zero": mean(columns[:, 1]),
        "above_zero_ci": above,
        "edges": edges.tolist(),
        "shares": (counts / len(values)).tolist(),
    }
