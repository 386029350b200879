"""Infer exactly on paired differences of few clusters, where a t test or a bootstrap is too confident.

If two models are equally good, each cluster's total gap has either sign with equal chance: the sign-flip test counts
the 2^C sign patterns (Fisher 1935). Its intervals are order statistics of the means of subsets (Hartigan 1969).
"""

import math
import sys

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.metrics.intervals import DECIMALS, LEVEL

Floats = NDArray[np.float64]

# With fewer clusters, all sign patterns are counted; a cluster-robust error would also be too small.
FEW_CLUSTERS = 20


def sign_flip_p(gaps: Floats) -> float:
    """Compute the two-sided p of "no difference" from the total gap of each cluster, under all sign patterns.

    E.g. four gaps of 1: two of 16 patterns are as far from 0, p = .125, as in McNemar's exact test.
    """
    gaps = np.round(gaps, DECIMALS)
    gaps = gaps[gaps != 0]
    if not len(gaps):
        return 1.0
    if (gaps > 0).all() or (gaps < 0).all():
        return max(math.ldexp(1.0, 1 - len(gaps)), sys.float_info.min)
    totals: Floats = np.zeros(1)
    weights: Floats = np.ones(1)
    for size, times in zip(*np.unique(np.abs(gaps), return_counts=True), strict=True):
        probability = scipy.special.binom(times, np.arange(times + 1)) / 2.0**times
        shifted = totals[:, None] + size * (2 * np.arange(times + 1) - times)
        chances = (weights[:, None] * probability).ravel()
        totals, index = np.unique(np.round(shifted.ravel(), DECIMALS), return_inverse=True)
        weights = np.bincount(index.ravel(), weights=chances).astype(np.float64)
    far = np.abs(totals) >= abs(gaps.sum()) - 10.0 ** (2 - DECIMALS)
    return float(min(1.0, weights[far].sum()))


def subset_interval(rows: Floats, *, level: float = LEVEL) -> list[float] | None:
    """Return the differences that the sign-flip test does not reject; `rows` (C, 2) are total gaps and numbers of
    items.

    The k-th smallest and largest of the means of all subsets, k = 2^C (1 - level) / 2; None where k is below 1,
    since so few clusters reject nothing.
    """
    sums = np.zeros((1, 2))
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    means = np.sort(sums[1:, 0] / sums[1:, 1])
    k = int(2.0 ** len(rows) * (1.0 - level) / 2.0)
    if k < 1:
        return None
    return [float(means[k - 1]), float(means[-k])]


def clusters_needed(alpha: float) -> int:
    """Return the minimum number of clusters with which the exact test can reject at `alpha`: 2 / 2^C < alpha."""
    return math.floor(math.log2(2.0 / alpha)) + 1
