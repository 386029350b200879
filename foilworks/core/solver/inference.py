"""Compute intervals and verdicts of a cross-validated share of right answers. Videos and mirrored sets are blocks."""

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from foilworks.core.solver.folds import MAX_GROUP_SHARE
from foilworks.core.solver.solution import Interval, Verdict

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Z = 1.959964
# Test items of one fold share a model, so the spread is wider than that of independent items (measured on fair sets by
# benchmarks/null_sets.py).
INFLATION = 1.35
# A solver this far above chance is a failure; one surely less far has found nothing.
FAIL_MARGIN, NOTHING_MARGIN = 0.05, 0.10
MAX_WIDTH = 0.30
# How far from chance a fair set may be, on both sides.
FAIR_MARGIN = 0.04
# Nearer to a margin, no realistic number of items decides.
SMALLEST_MARGIN = 0.005
EPSILON = 1e-9


def block_interval(credits: Floats, blocks: Codes, inflation: float = INFLATION) -> tuple[float, Interval]:
    """Return the mean of (n,) credits and its 95 % interval: Wilson's (1927), with an effective number of items.

    The effective number is n divided by the design effect of the blocks (Kish 1965), at least 1, and by inflation^2.
    """
    n = len(credits)
    mean = float(credits.mean())
    sums = np.bincount(blocks, weights=credits - mean)
    counts = np.bincount(blocks)
    sums, n_blocks = sums[counts > 0], int((counts > 0).sum())
    sizes = counts[counts > 0]
    binomial = mean * (1 - mean) / max(1, n - 1)
    cluster = float((sums**2).sum()) / n**2 * n_blocks / max(1, n_blocks - 1)
    # All right or all wrong: no spread to measure, so a block counts once.
    effect = max(1.0, cluster / binomial) if binomial > EPSILON else float((sizes**2).sum()) / n
    effective = n / effect / inflation**2
    middle = (mean + Z**2 / (2 * effective)) / (1 + Z**2 / effective)
    reach = Z / (1 + Z**2 / effective) * math.sqrt(mean * (1 - mean) / effective + Z**2 / (4 * effective**2))
    return mean, (max(0.0, min(mean, middle - reach)), min(1.0, max(mean, middle + reach)))


def verdict_of(
    value: float, interval: Interval, chance: float, n: int, largest_group: float, is_certified: bool
) -> tuple[Verdict, str, int | None]:
    """Return the verdict, the reason of "cannot_tell", and the number of items that would decide (None: none would)."""
    low, high = interval
    half = (high - low) / 2
    if largest_group > MAX_GROUP_SHARE:
        return "cannot_tell", "group", None
    if high - low > MAX_WIDTH:
        return (
            "cannot_tell",
            "wide",
            max(n + 1, _items_for(n, half, MAX_WIDTH / 2), _n_needed(value - chance, half, n) or 0),
        )
    if low >= chance + FAIL_MARGIN:
        return "fail", "", None
    if high < chance:
        return "reversed", "", None
    if low <= chance and high < chance + NOTHING_MARGIN:
        return ("nothing_found" if is_certified else "nothing_found_so_far"), "", None
    return "cannot_tell", "interval", _n_needed(value - chance, half, n)


def largest_fair(credits: Floats, chance: Floats) -> int:
    """Return the size of the largest subset with credits of at most `FAIR_MARGIN` above chance.

    `credits`: (n,) of held-out answers, `chance`: (n,). A solver that learned from all published items gives these
    answers, whatever is kept, so no larger subset is fair.
    """
    return int((np.cumsum(np.sort(credits - chance - FAIR_MARGIN)) <= EPSILON).sum())


def _n_needed(excess: float, half: float, n: int) -> int | None:
    margins = []
    if excess > FAIL_MARGIN + SMALLEST_MARGIN:
        margins.append(excess - FAIL_MARGIN)
    if 0 <= excess < NOTHING_MARGIN / 2:
        margins.append(NOTHING_MARGIN - excess)
    if excess < 0:
        margins.append(-excess if -excess > half else NOTHING_MARGIN - excess)
    return min((max(n + 1, _items_for(n, half, margin)) for margin in margins), default=None)


def _items_for(n: int, half: float, target: float) -> int:
    """Return the number of items at which an interval of n items with this half width has the target's."""
    return math.ceil(n * (half / max(target, EPSILON)) ** 2)


def p_above(value: float, chance: float, interval: Interval) -> float:
    """Return the one-sided p of a value against chance, from the width of its interval."""
    error = (interval[1] - interval[0]) / (2 * Z)
    return float(scipy.stats.norm.sf((value - chance) / max(error, EPSILON)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number (Holm 1979)."""
    order = np.argsort(p_values)
    corrected, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = highest
    return corrected


def resampled_interval(fold_values: Floats, test_share: float, value: float) -> Interval:
    """Return the interval of a mean over J folds of repeats, with the corrected resampled variance.

    It is (1 / J + test / training items) times the variance of the folds (Nadeau & Bengio 2003), with a t of
    J - 1 degrees of freedom.
    """
    n = len(fold_values)
    variance = (1 / n + test_share / (1 - test_share)) * float(fold_values.var(ddof=1))
    reach = float(scipy.stats.t.ppf(0.975, n - 1)) * math.sqrt(variance)
    return max(0.0, value - reach), min(1.0, value + reach)
