"""Compare a model's share of right answers on the public and on the private items of a release.

The two parts have different items of different source videos, so they are independent. The interval of the difference
is made from the intervals of both shares (MOVER: Zou & Donner 2008; for shares Newcombe 1998, method 10), each with a
cluster-robust standard error over source videos. A model that learnt the public items has a positive gap
(docs/reference/formulas.md#metric-gap).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import LEVEL, mean, t_interval

VERSION = "1"

Floats = NDArray[np.float64]


def gap(
    public: Floats,
    public_clusters: Sequence[str],
    private: Floats,
    private_clusters: Sequence[str],
    *,
    level: float = LEVEL,
) -> dict[str, Any] | None:
    """Return both shares with their intervals, the gap (public minus private) with its own, and whether it excludes 0.

    Values are credits per item, NaN for items that do not count. None without an item on one side; the intervals are
    None for a part of one source video.
    """
    sides = [_side(*side, level) for side in ((public, public_clusters), (private, private_clusters))]
    if not all(n for _share, _interval, n in sides):
        return None
    (one, one_ci, n_public), (other, other_ci, n_private) = sides
    bounds = difference_interval(one, one_ci, other, other_ci)
    return {
        "public": one,
        "public_ci": one_ci,
        "private": other,
        "private_ci": other_ci,
        "gap": one - other,
        "gap_ci": bounds,
        "differs": bounds is not None and not bounds[0] <= 0.0 <= bounds[1],
        "n_public": n_public,
        "n_private": n_private,
    }


def difference_interval(
    one: float, one_ci: Sequence[float] | None, other: float, other_ci: Sequence[float] | None
) -> list[float] | None:
    """Return the interval of `one - other` of two independent estimates from their own intervals."""
    if one_ci is None or other_ci is None:
        return None
    low = math.hypot(one - one_ci[0], other_ci[1] - other)
    high = math.hypot(one_ci[1] - one, other - other_ci[0])
    return [one - other - low, one - other + high]


def _side(values: Floats, clusters: Sequence[str], level: float) -> tuple[float, list[float] | None, int]:
    counts = ~np.isnan(values)
    if not counts.any():
        return 0.0, None, 0
    names = [name for name, kept in zip(clusters, counts, strict=True) if kept]
    return mean(values[counts]), t_interval(values[counts], names, level=level), int(counts.sum())
