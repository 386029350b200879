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
    """Return rows by concept, each with its cells by time: `value`, `ci`, and the `difference` from the reference cell.

    The reference is objects+composition+activities in sequence. The difference has an interval (paired: the same draws
    of source videos), and is None at the reference itself. E.g. credits 1, 0 against the reference's 1, 1: value .5,
    difference -.5.
    """
    cells = [(concept, temporal) for concept in CONCEPTS for temporal in TEMPORAL]
    values = np.column_stack([credits[cell] for cell in cells])
    reference = credits[REFERENCE][:, None]
    columns = np.column_stack([values, values - reference])
    bounds = [SHARES] * len(cells) + [GAPS] * len(cells)
    found = mean_intervals(columns, clusters, bounds=bounds, draws=draws, seed=seed)
    rows: dict[str, dict[str, Any]] = {concept: {"concept": concept, "cells": []} for concept in CONCEPTS}
    for at, cell in enumerate(cells):
        is_reference = cell == REFERENCE
        rows[cell[0]]["cells"].append(
            {
                "temporal": cell[1],
                "value": mean(values[:, at]),
                "ci": found[at],
                "difference": None if is_reference else mean(values[:, at] - reference[:, 0]),
                "difference_ci": None if is_reference else found[len(cells) + at],
            }
        )
    return list(rows.values())


def gains(
    common: Mapping[Cell, Credits],
    dataset: Mapping[Cell, Credits],
    clusters: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[dict[str, Any]]:
    """Return dataset bias minus common sense bias in sequence (UTD, Table 2), by concept, with paired intervals."""
    cells = [(concept, SEQUENCE) for concept in CONCEPTS]
    columns = np.column_stack([dataset[cell] - common[cell] for cell in cells])
    found = mean_intervals(columns, clusters, bounds=GAPS, draws=draws, seed=seed)
    return [
        {
            "concept": cell[0],
            "common": mean(common[cell]),
            "dataset": mean(dataset[cell]),
            "difference": mean(columns[:, at]),
            "difference_ci": found[at],
        }
        for at, cell in enumerate(cells)
    ]
