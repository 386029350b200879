"""Compute chance-corrected agreement from counts: Krippendorff's alpha, Fleiss' kappa, percent agreement, intervals.

All values follow from one (units, categories) table. Units with fewer than two votes carry no information about
agreement and are left out (Krippendorff 2011). An undefined value is None with a reason, never 0 or nan.
"""

from dataclasses import dataclass

import krippendorff
import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import DRAWS, SEED, bootstrap_values, cluster_sums, percentiles

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

NOTHING_SHARED = "no unit has two votes"
ONE_CATEGORY = "all votes fall into one category, so that agreement by chance is certain"


@dataclass(frozen=True)
class Alpha:
    """`value` in -1..1, or None with the `reason`; `interval` from a bootstrap over items.

    `undefined`: the share of bootstrap samples with votes of only one category, where alpha is undefined; the interval
    covers the other samples. None if nothing was sampled.
    """

    value: float | None
    interval: list[float] | None
    reason: str | None
    undefined: float | None = None


def judged(counts: Counts) -> Counts:
    """Return the units with at least two votes."""
    return counts[counts.sum(axis=1) >= 2]


def undefined_because(counts: Counts) -> str | None:
    """Return why agreement is undefined on these units, or None if it is defined."""
    counts = judged(counts)
    if not len(counts):
        return NOTHING_SHARED
    return ONE_CATEGORY if (counts.sum(axis=0) > 0).sum() < 2 else None


def alpha(
    counts: Counts,
    items: NDArray[np.int64] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    interval: bool = True,
) -> Alpha:
    """Compute nominal Krippendorff's alpha of (units, categories) counts, with a 95 % bootstrap interval over items.

    `items`: (units,) a code of the item of each. Pairs of one item share its caption and its video, so they are
    drawn together; without `items` every unit is one of its own.
    """
    reason = undefined_because(counts)
    if reason:
        return Alpha(None, None, reason)
    is_judged = judged(counts)
    value = float(krippendorff.alpha(value_counts=is_judged, level_of_measurement="nominal"))
    if not interval:
        return Alpha(value, None, None)
    of_used = None if items is None else [str(item) for item in items[counts.sum(axis=1) >= 2]]
    rows = cluster_sums(_alpha_parts(is_judged), of_used)
    drawn_alphas = bootstrap_values(rows, _alpha_from_sums, draws=draws, seed=seed)
    undefined = float((~np.isfinite(drawn_alphas)).mean()) if len(drawn_alphas) else None
    return Alpha(value, percentiles(drawn_alphas), None, undefined)


def _alpha_parts(counts: Counts) -> Floats:
    """Return, per unit, its disagreeing pairs over (votes - 1), then its counts. Alpha is a function of the column
    sums.
    """
    total = counts.sum(axis=1)
    disagreeing = (total**2 - (counts**2).sum(axis=1)) / (total - 1)
    return np.column_stack([disagreeing, counts]).astype(np.float64)


def _alpha_from_sums(sums: Floats) -> Floats:
    """Compute alpha = 1 - D_o / D_e of (draws, 1 + categories) sums; nan if a draw has only one category."""
    observed, by_category = sums[:, 0], sums[:, 1:]
    total = by_category.sum(axis=1)
    expected = (total**2 - (by_category**2).sum(axis=1)) / (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1.0 - observed / expected, np.nan)


def pair_agreement(counts: Counts) -> Floats:
    """Return the share of agreeing vote pairs per judged unit (P_i of Fleiss 1971), shape (judged units,)."""
    is_judged = judged(counts)
    total = is_judged.sum(axis=1)
    return (is_judged * (is_judged - 1)).sum(axis=1) / (total * (total - 1))


def percent_agreement(counts: Counts) -> float | None:
    """Return the mean share of agreeing pairs over units, in 0..1; None if no unit has two votes."""
    shares = pair_agreement(counts)
    return float(shares.mean()) if len(shares) else None


def fleiss_kappa(counts: Counts) -> float | None:
    """Compute Fleiss' kappa (Fleiss 1971); units may differ in their number of votes. None if undefined."""
    if undefined_because(counts):
        return None
    is_judged = judged(counts)
    shares = is_judged.sum(axis=0) / is_judged.sum()
    by_chance = float((shares**2).sum())
    return (float(pair_agreement(is_judged).mean()) - by_chance) / (1.0 - by_chance)
