"""Measure how often a language model finds the caption likelier (docs/explanation/balance.md#blind-audit)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.analyses.analysis_inputs import ItemFacts, hard_part, valid_part
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from generation.balance.balanced_pairs import caption_groups

# Of a text that reaches the model's limit: an id of the part that the model reads, and whether it was truncated.
Truncations = Mapping[str, tuple[str, bool]]


@dataclass(frozen=True)
class TextScores:
    """text -> score of a text-only model, and the texts that the model truncates."""

    values: Mapping[str, float]
    higher_is_better: bool = True
    truncations: Truncations = field(default_factory=dict)


def preference(items: Sequence[ItemFacts], scores: TextScores, *, draws: int = DRAWS) -> dict[str, Any]:
    """Compute the share of pairs whose caption scores better, ties half, with its interval, per subtest and overall;
    `valid` the same over valid items. Of an item with a hard foil, only the hard foil makes a pair.

    Pairs are left out if a text has no score (`n_missing`) or if both texts are equal after truncation
    (`n_equal_after_cut`); `n_pairs` and `n_captions` count the rest. `n_truncated`: pairs with a truncated text.
    """
    items = hard_part(items)
    names = dict.fromkeys(item.subtest for item in items)
    rows = [_row(name, [item for item in items if item.subtest == name], scores, draws) for name in names]
    return {"subtests": rows, "overall": _row("overall", items, scores, draws)}


def reads_alike(a: str, b: str, truncations: Truncations) -> bool:
    """Report whether two different texts are equal to the model after truncation."""
    if a == b or a not in truncations or b not in truncations:
        return False
    (first, first_cut), (second, second_cut) = truncations[a], truncations[b]
    return first == second and (first_cut or second_cut)


def _row(name: str, items: Sequence[ItemFacts], scores: TextScores, draws: int) -> dict[str, Any]:
    valid = valid_part(items)
    return {"name": name, **_share(items, scores, draws), "valid": _share(valid, scores, draws) if valid else None}


def _share(items: Sequence[ItemFacts], scores: TextScores, draws: int) -> dict[str, Any]:
    values, truncations = scores.values, scores.truncations
    pairs = [(item.caption, foil) for item in items for foil in item.foils]
    scored = [(caption, foil) for caption, foil in pairs if caption in values and foil in values]
    compared = [(caption, foil) for caption, foil in scored if not reads_alike(caption, foil, truncations)]
    cuts = {
        "n_missing": len(pairs) - len(scored),
        "n_truncated": sum(any(truncations.get(text, ("", False))[1] for text in pair) for pair in pairs),
        "n_equal_after_cut": len(scored) - len(compared),
    }
    if not compared:
        return {"preference": None, "ci": None, "n_pairs": 0, "n_captions": 0, **cuts}
    sign = 1.0 if scores.higher_is_better else -1.0
    gaps = np.array([sign * (values[caption] - values[foil]) for caption, foil in compared])
    solved = np.where(gaps == 0, 0.5, gaps > 0).astype(np.float64)
    groups = caption_groups(compared)
    (interval,) = mean_intervals(solved[:, None], groups, draws=draws, seed=SEED)
    return {
        "preference": mean(solved),
        "ci": interval,
        "n_pairs": len(compared),
        "n_captions": len(set(groups)),
        **cuts,
    }
