"""Compute accuracy by how close the foil is to the caption in meaning (contrast sets, Sec. 4.3 and Table 5).

`proximity` of an item is the cosine of caption and foil under a sentence encoder: one number, or one per encoder by
name (SentBERT, CLIP-text). Antonyms form a group of their own, because encoders place them close together. Of the other
items, the nearest and the farthest 15 % are compared. Beside them, five bins of equal size cover all items without
antonyms: the paper's two groups leave out most of them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.scored_items import ScoredItems, binned, by_group, n_hard_foils, need, number
from evaluation.metrics.intervals import DRAWS, SEED

VERSION = "3"
INPUT = "scored"
SHARE = 0.15


def compute(
    items: ScoredItems, *, share: float = SHARE, ties: str = "half", draws: int = DRAWS, seed: int = SEED
) -> dict[str, Any]:
    """Return rows by model: antonyms, then for each measure the highest and the lowest `share` of the other items.

    `bins`: rows of the five bins of each measure, from the lowest.

    The number of items is rounded half up, at least one; ties are broken by id. An item without a number is in neither
    group.
    """
    antonym = np.array([facts.get("antonym") is True for facts in items.facts], dtype=bool)
    measures = _measures(items)
    is_measured = np.array(
        [any(not math.isnan(values[k]) for values in measures.values()) for k in range(len(items.ids))]
    )
    need(
        is_measured | antonym,
        "no item has the fact: semantic proximity (`proximity`)"
        "; give it as a fact of the items (or next to the scores in the file)",
    )
    groups: dict[str, NDArray[np.bool_]] = {"antonyms": antonym} if antonym.any() else {}
    cuts = {}
    bins: dict[str, NDArray[np.bool_]] = {}
    for name, values in measures.items():
        usable = np.flatnonzero(~antonym & ~np.isnan(values))
        if not len(usable):
            continue
        ordered = sorted(usable.tolist(), key=lambda k, values=values: (values[k], items.ids[k]))  # type: ignore[misc]
        size = max(1, math.floor(share * len(ordered) + 0.5))
        low, high = ordered[:size], ordered[-size:]
        bins |= binned(ordered, values, name, len(items.ids))
        groups[f"{name}: high"], groups[f"{name}: low"] = _mask(high, items), _mask(low, items)
        cuts[name] = {"n": len(ordered), "each": size, "low_up_to": values[low[-1]], "high_from": values[high[0]]}
    rows = by_group(items, groups, ties, draws=draws, seed=seed)
    return {
        "rows": rows,
        "share": share,
        "n_antonyms": int(antonym.sum()),
        "cuts": cuts,
        "bins": by_group(items, bins, ties, draws=draws, seed=seed),
        "hard_foils": n_hard_foils(items),
    }


def _measures(items: ScoredItems) -> dict[str, list[float]]:
    """Return {encoder: (n,) proximity}, NaN if unknown."""
    names = dict.fromkeys(
        name for facts in items.facts if isinstance(facts.get("proximity"), dict) for name in facts["proximity"]
    )
    if not names:
        return {"proximity": [number(facts, "proximity") for facts in items.facts]}
    return {
        name: [
            number(facts["proximity"], name) if isinstance(facts.get("proximity"), dict) else math.nan
            for facts in items.facts
        ]
        for name in names
    }


def _mask(indices: list[int], items: ScoredItems) -> NDArray[np.bool_]:
    out = np.zeros(len(items.ids), dtype=bool)
    out[indices] = True
    return out
