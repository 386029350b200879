"""Compute accuracy by the number that the caption counts, and its mean over a category's models (ViLMA, Fig. 11)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.analyses.scored_items import ScoredItems, by_group, need, number
from evaluation.metrics.intervals import DRAWS, SEED

VERSION = "2"
INPUT = "scored"


def compute(items: ScoredItems, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Return rows by model and count, ascending; `categories`: mean and standard deviation over a category's models.

    The deviation is over models (ddof 0, as the figure's band over the models at hand), None of fewer than two.
    """
    count = np.array([number(facts, "count") for facts in items.facts])
    need(
        ~np.isnan(count),
        "no item has the fact: count (`count`); give it as a fact of the items (or next to the scores in the file)",
    )
    groups = {f"{value:g}": count == value for value in np.unique(count[~np.isnan(count)])}
    rows = by_group(items, groups, ties, draws=draws, seed=seed)
    return {"rows": rows, "categories": _categories(rows, list(groups))}


def _categories(rows: Sequence[dict[str, Any]], groups: Sequence[str]) -> list[dict[str, Any]]:
    out = []
    for category in dict.fromkeys(row["category"] for row in rows):
        for group in groups:
            values = [
                row["accuracy"]
                for row in rows
                if row["category"] == category and row["group"] == group and row["accuracy"] is not None
            ]
            if values:
                spread = float(np.std(values)) if len(values) > 1 else None
                statistics = {
                    "group": group,
                    "mean": float(np.mean(values)),
                    "sd": spread,
                    "n_models": len(values),
                }
                out.append({"category": category or "not specified", **statistics})
    return out
