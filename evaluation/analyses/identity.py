"""Compute accuracy by the identity that the foil inserts: do models fail on rare people? (contrast sets, Table 4)

An item is rare if its own identity is less frequent in the train captions than the one swapped in. The facts are
`original_frequency` and `swapped_frequency`; of several foils, the most frequent one counts. Rare identities are the
paper's group. Beside it: the others (frequent), and five bins of equal size by the logarithm of the ratio of both
frequencies.
"""

from typing import Any

import numpy as np

from evaluation.analyses.scored_items import ScoredItems, binned, by_group, credits, need, number
from evaluation.metrics.intervals import DRAWS, SEED, bootstrap, cluster_sums

VERSION = "4"
INPUT = "scored"


def compute(items: ScoredItems, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Return rows by model: overall, rare and frequent.

    `differences`: overall minus rare, with intervals from the same draws. `bins`: rows by log2 of (own + 1) / (other +
    1), the rarest first.
    """
    original = np.array([number(facts, "original_frequency") for facts in items.facts])
    swapped = np.array([_max_frequency(facts.get("swapped_frequency")) for facts in items.facts])
    has_frequencies = ~np.isnan(original) & ~np.isnan(swapped)
    need(
        has_frequencies,
        "no item has the fact: train frequencies (`original_frequency`, `swapped_frequency`)"
        "; give it as a fact of the items (or next to the scores in the file)",
    )
    rare = has_frequencies & (original < swapped)
    groups = {"overall": has_frequencies, "rare": rare, "frequent": has_frequencies & ~rare}
    rows = by_group(items, groups, ties, draws=draws, seed=seed)
    ratio = np.log2((original + 1) / (swapped + 1))
    ordered = sorted(np.flatnonzero(has_frequencies).tolist(), key=lambda k: (ratio[k], items.ids[k]))
    bins = binned(ordered, ratio.tolist(), "log2 ratio", len(items.ids))
    return {
        "rows": rows,
        "bins": by_group(items, bins, ties, draws=draws, seed=seed),
        "differences": [_difference(items, name, has_frequencies, rare, ties, draws, seed) for name in items.models],
    }


def _max_frequency(frequencies: Any) -> float:
    values = frequencies if isinstance(frequencies, list | tuple) else [frequencies]
    numbers = [number({"f": value}, "f") for value in values]
    return max((value for value in numbers if value == value), default=float("nan"))


def _difference(
    items: ScoredItems, model: str, has_frequencies: Any, rare: Any, ties: str, draws: int, seed: int
) -> dict[str, Any]:
    credit = credits(items.models[model], ties)
    is_used = has_frequencies & ~np.isnan(credit)
    labels: dict[str, Any] = {"model": model, "category": items.categories.get(model, "")}
    within = rare[is_used]
    if not within.any():
        return {**labels, "difference": None, "ci": None, "n": int(is_used.sum()), "n_rare": 0}
    values = credit[is_used]
    terms = np.column_stack([values, np.ones(len(values)), values * within, within.astype(np.float64)])
    sums = cluster_sums(terms, [items.clusters[k] for k in np.flatnonzero(is_used).tolist()])

    def difference(rows: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3]

    value = float(difference(terms.sum(axis=0, keepdims=True))[0])
    interval = bootstrap(sums, difference, draws=draws, seed=seed)
    return {**labels, "difference": value, "ci": interval, "n": int(is_used.sum()), "n_rare": int(within.sum())}
