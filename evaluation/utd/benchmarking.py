"""Models on the full test set, its split and its balanced split (UTD, Tables 5 and 6), their flips and order. Pure."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import DRAWS, SEED, bootstrap, cluster_sums, mean_intervals

FULL, SPLIT, BALANCED = "full", "split", "balanced"
Floats = NDArray[np.float64]


def benchmark(
    ids: Sequence[str],
    clusters: Sequence[str],
    removed: Mapping[str, Sequence[str] | None],
    right: Mapping[str, Mapping[str, float]],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """`removed`: what leaves the split and the balanced one, None where there is no such; `right`: {model: {id: 0..1}}.

    A model counts over the samples that it has an answer to; `n_missing` are the others. A difference is its share in a
    split less its share in the full set, with a paired interval over source videos. `flips`: pairs of models of which
    one is ahead in the full set and the other in the split. `order`: models by the size of their drop, least first.
    E.g. right on 3 of 4, and on 1 of the 2 that stay: .75, .5, difference -.25.
    """
    kept = {FULL: np.ones(len(ids), dtype=bool)}
    for name, gone in removed.items():
        if gone is not None:
            out = set(gone)
            kept[name] = np.array([each not in out for each in ids], dtype=bool)
    rows = [_row(model, ids, clusters, kept, answers, draws, seed) for model, answers in right.items()]
    return {
        "n": {name: int(stays.sum()) for name, stays in kept.items()},
        "models": sorted(rows, key=lambda row: (-(row["cells"][FULL]["value"] or 0.0), row["model"])),
        "flips": {name: _flips(rows, name) for name in kept if name != FULL},
        "order": {name: _order(rows, name) for name in kept if name != FULL},
    }


def _row(
    model: str,
    ids: Sequence[str],
    clusters: Sequence[str],
    kept: Mapping[str, NDArray[np.bool_]],
    answers: Mapping[str, float],
    draws: int,
    seed: int,
) -> dict[str, Any]:
    values = np.array([answers.get(each, np.nan) for each in ids])
    there = ~np.isnan(values)
    cells: dict[str, Any] = {}
    for name, stays in kept.items():
        chosen = stays & there
        if not chosen.any():
            cells[name] = {"value": None, "ci": None, "n": 0, "difference": None, "difference_ci": None}
            continue
        some = [clusters[at] for at in np.flatnonzero(chosen)]
        (interval,) = mean_intervals(values[chosen][:, None], some, draws=draws, seed=seed)
        cells[name] = {"value": float(values[chosen].mean()), "ci": interval, "n": int(chosen.sum())}
        if name != FULL:
            cells[name]["difference"] = cells[name]["value"] - cells[FULL]["value"]
            cells[name]["difference_ci"] = _difference_interval(values, there, chosen, clusters, draws, seed)
    return {"model": model, "n_missing": int((~there).sum()), "cells": cells}


def _difference_interval(
    values: Floats, there: NDArray[np.bool_], chosen: NDArray[np.bool_], clusters: Sequence[str], draws: int, seed: int
) -> list[float] | None:
    """Of share in the split less share in the full set: both over the same draws of source videos."""
    known = np.where(there, values, 0.0)
    columns = np.column_stack([known * chosen, chosen, known, there]).astype(np.float64)
    rows = cluster_sums(columns, clusters)

    def statistic(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3])

    return bootstrap(rows, statistic, draws=draws, seed=seed)


def _flips(rows: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    found = []
    for one, other in combinations(rows, 2):
        before, after = (_sign(one["cells"][form]["value"], other["cells"][form]["value"]) for form in (FULL, name))
        if before * after < 0:
            ahead, behind = (one, other) if before > 0 else (other, one)
            found.append({"ahead_in_full": ahead["model"], "ahead_in_split": behind["model"]})
    return found


def _sign(one: float | None, other: float | None) -> int:
    if one is None or other is None or one == other:
        return 0
    return 1 if one > other else -1


def _order(rows: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    known = [row for row in rows if row["cells"][name]["difference"] is not None]
    drops = [{"model": row["model"], "difference": row["cells"][name]["difference"]} for row in known]
    return sorted(drops, key=lambda row: (-row["difference"], row["model"]))
