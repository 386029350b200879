"""Compute the 16 cells of concept x time (UTD, Tables 1-3 and A.3): shares, differences and their intervals. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.comparison import GAPS
from evaluation.metrics.intervals import DRAWS, SEED, SHARES, mean, mean_intervals
from evaluation.utd.concepts import CONCEPTS, DESCRIPTION, SEQUENCE, TEMPORAL

Cell = tuple[str, str]
# Equal to `measures.Credits`, repeated so that pages do not import scikit-learn.
Credits = NDArray[np.float64]
# The reference cell of every difference (UTD, Table A.3).
REFERENCE: Cell = (DESCRIPTION, SEQUENCE)


def table(
    credits: Mapping[Cell, Credits], clusters: Sequence[str], *, draws: int = DRAWS, seed: int = SEED
) -> list[dict[str, Any]]:
    """Return rows by concept, each with its cells by time: `value`, `ci`, `n`, and the `difference` from the reference
    cell.

    The reference is objects+composition+activities in sequence. A credit is NaN for a sample without the texts of the
    cell; a difference is over the samples that both cells have, with a paired interval (the same draws of source
    videos). It is None at the reference itself. A cell without samples has the value None. E.g. credits 1, 0 against
    the reference's 1, 1: value .5, difference -.5.
    """
    cells = [(concept, temporal) for concept in CONCEPTS for temporal in TEMPORAL]
    nothing = np.full(len(clusters), np.nan)
    reference = credits.get(REFERENCE, nothing)
    columns = [credits.get(cell, nothing) for cell in cells]
    columns += [column - reference for column in columns]
    bounds = [SHARES] * len(cells) + [GAPS] * len(cells)
    values, intervals = means(np.column_stack(columns), clusters, bounds, draws=draws, seed=seed)
    rows: dict[str, dict[str, Any]] = {concept: {"concept": concept, "cells": []} for concept in CONCEPTS}
    for at, cell in enumerate(cells):
        is_reference = cell == REFERENCE
        rows[cell[0]]["cells"].append(
            {
                "temporal": cell[1],
                "value": values[at],
                "ci": intervals[at],
                "n": int((~np.isnan(columns[at])).sum()),
                "difference": None if is_reference else values[len(cells) + at],
                "difference_ci": None if is_reference else intervals[len(cells) + at],
            }
        )
    return list(rows.values())


def means(
    columns: Credits,
    clusters: Sequence[str],
    bounds: Sequence[tuple[float, float]],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[list[float | None], list[list[float] | None]]:
    """Return the mean of each column (n, m) over its samples, and its interval; None for a column without samples.

    Columns with the same samples share the draws.
    """
    has_value = ~np.isnan(columns)
    values: list[float | None] = [None] * columns.shape[1]
    intervals: list[list[float] | None] = [None] * columns.shape[1]
    alike: dict[bytes, list[int]] = {}
    for at in range(columns.shape[1]):
        alike.setdefault(has_value[:, at].tobytes(), []).append(at)
    for column_indices in alike.values():
        rows = np.flatnonzero(has_value[:, column_indices[0]])
        if not len(rows):
            continue
        some, of = columns[np.ix_(rows, column_indices)], [clusters[row] for row in rows]
        for at, interval in zip(
            column_indices,
            mean_intervals(some, of, bounds=[bounds[at] for at in column_indices], draws=draws, seed=seed),
            strict=True,
        ):
            values[at], intervals[at] = mean(columns[rows, at]), interval
    return values, intervals


def gains(
    common: Mapping[Cell, Credits],
    dataset: Mapping[Cell, Credits],
    clusters: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[dict[str, Any]]:
    """Return dataset bias minus common sense bias in sequence (UTD, Table 2), by concept, with paired intervals.

    A concept without dataset bias is left out.
    """
    cells = [(concept, SEQUENCE) for concept in CONCEPTS if (concept, SEQUENCE) in dataset]
    if not cells:
        return []
    columns = np.column_stack([dataset[cell] - common[cell] for cell in cells])
    values, intervals = means(columns, clusters, [GAPS] * len(cells), draws=draws, seed=seed)
    return [
        {
            "concept": cell[0],
            "common": _mean(common[cell]),
            "dataset": _mean(dataset[cell]),
            "difference": values[at],
            "difference_ci": intervals[at],
        }
        for at, cell in enumerate(cells)
    ]


def _mean(values: Credits) -> float | None:
    present_values = values[~np.isnan(values)]
    return mean(present_values) if len(present_values) else None
