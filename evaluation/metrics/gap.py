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
    (public_share, public_ci, n_public), (private_share, private_ci, n_private) = sides
    bounds = difference_interval(public_share, public_ci, private_share, private_ci)
    return {
        "public": public_share,
        "public_ci": public_ci,
        "private": private_share,
        "private_ci": private_ci,
        "gap": public_share - private_share,
        "gap_ci": bounds,
        "differs": bounds is not None and not bounds[0] <= 0.0 <= bounds[1],
        "n_public": n_public,
        "n_private": n_private,
    }


def difference_interval(
    first: float, first_ci: Sequence[float] | None, second: float, second_ci: Sequence[float] | None
) -> list[float] | None:
    """Return the interval of `first - second` of two independent estimates from their own intervals."""
    if first_ci is None or second_ci is None:
        return None
    low = math.hypot(first - first_ci[0], second_ci[1] - second)
    high = math.hypot(first_ci[1] - first, second - second_ci[0])
    return [first - second - low, first - second + high]


def _side(values: Floats, clusters: Sequence[str], level: float) -> tuple[float, list[float] | None, int]:
    counts = ~np.isnan(values)
    if not counts.any():
        return 0.0, None, 0
    names = [name for name, is_scored in zip(clusters, counts, strict=True) if is_scored]
    return mean(values[counts]), t_interval(values[counts], names, level=level), int(counts.sum())
