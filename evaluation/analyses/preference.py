"""Measure how often a language model finds the caption likelier (docs/explanation/balance.md#blind-audit)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.analyses.records import ItemFacts, valid_part
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from generation.balance.records import caption_groups


def preference(
    items: Sequence[ItemFacts], values: Mapping[str, float], *, higher_is_better: bool = True, draws: int = DRAWS
) -> dict[str, Any]:
    """`values`: text -> score. The share of pairs whose caption scores better, ties half, with its interval over
    captions, per subtest and overall, `valid` the same over valid items; pairs with a text that has no score are left
    out (`n_missing`), so `n_pairs` and `n_captions` count those that are read."""
    names = dict.fromkeys(item.subtest for item in items)
    rows = [
        _row(name, [item for item in items if item.subtest == name], values, higher_is_better, draws) for name in names
    ]
    return {"subtests": rows, "overall": _row("overall", items, values, higher_is_better, draws)}


def _row(
    name: str, items: Sequence[ItemFacts], values: Mapping[str, float], higher_is_better: bool, draws: int
) -> dict[str, Any]:
    valid = valid_part(items)
    found = _share(items, values, higher_is_better, draws)
    return {"name": name, **found, "valid": _share(valid, values, higher_is_better, draws) if valid else None}


def _share(
    items: Sequence[ItemFacts], values: Mapping[str, float], higher_is_better: bool, draws: int
) -> dict[str, Any]:
    pairs = [(item.caption, foil) for item in items for foil in item.foils]
    known = [(caption, foil) for caption, foil in pairs if caption in values and foil in values]
    missing = len(pairs) - len(known)
    if not known:
        return {"preference": None, "ci": None, "n_pairs": 0, "n_captions": 0, "n_missing": missing}
    sign = 1.0 if higher_is_better else -1.0
    gaps = np.array([sign * (values[caption] - values[foil]) for caption, foil in known])
    won = np.where(gaps == 0, 0.5, gaps > 0).astype(np.float64)
    groups = caption_groups(known)
    (interval,) = mean_intervals(won[:, None], groups, draws=draws, seed=SEED)
    return {
        "preference": mean(won),
        "ci": interval,
        "n_pairs": len(known),
        "n_captions": len(set(groups)),
        "n_missing": missing,
    }
