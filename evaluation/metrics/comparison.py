"""Test whether models differ by more than chance, two or many at once (docs/reference/formulas.md#statistics).

Credits are shares in 0..1 per item, NaN if a model has no score; a pair of models is compared over the items that both
scored. Clusters are source videos, as for every interval.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.metrics.exact import FEW_CLUSTERS, clusters_needed, sign_flip_p, subset_interval
from evaluation.metrics.intervals import (
    DRAWS,
    NOTHING,
    SEED,
    Bounds,
    cluster_error,
    cluster_sums,
    mean,
    percentiles,
    resampled_sums,
    without_spread,
)

Floats = NDArray[np.float64]

ALPHA = 0.05
POWER = 0.80
# The range of a difference of shares.
GAPS: Bounds = (-1.0, 1.0)
# A spread that is this much smaller than its parts has lost its digits.
CANCELLED = 1e-8


@dataclass(frozen=True)
class Difference:
    """A minus B, in shares. `ci`: paired cluster bootstrap; `t_ci` and `p_t`: cluster t with C - 1 degrees; `p`: of the
    bootstrap, two-sided. None where fewer than two clusters are shared. `exact`: all of them are of the sign-flip test,
    since the clusters are few or their gaps have no spread (metrics.exact)."""

    value: float | None
    ci: list[float] | None
    t_ci: list[float] | None
    p: float | None
    p_t: float | None
    n: int
    n_clusters: int
    exact: bool = False

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def paired_difference(
    a: Floats,
    b: Floats,
    clusters: Sequence[str] | None,
    *,
    bounds: Bounds | None = GAPS,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Difference:
    """Compute the mean of a - b over the items both scored, from credits `a` and `b` (n,) of two models.

    `bounds`: the range of a - b; None if unbounded. Whole clusters are drawn with both models' answers, so that what
    the models share (hard videos) cancels out.
    """
    in_both = ~(np.isnan(a) | np.isnan(b))
    gap = a[in_both] - b[in_both]
    if not len(gap):
        return Difference(None, None, None, None, None, 0, 0)
    names = None if clusters is None else [name for name, is_shared in zip(clusters, in_both, strict=True) if is_shared]
    rows = cluster_sums(np.column_stack([gap, np.ones(len(gap))]), names)
    value = mean(gap)
    if len(rows) < 2:
        return Difference(value, None, None, None, None, len(gap), len(rows))
    error = cluster_error(rows)[1]
    if _needs_exact(error, len(rows)):
        p, ci = sign_flip_p(rows[:, 0]), _exact_interval(rows, value, error, bounds)
        return Difference(value, ci, ci, p, p, len(gap), len(rows), exact=True)
    sums = resampled_sums(rows, draws=draws, seed=seed)
    drawn_means = sums[:, 0] / sums[:, 1]
    reach = float(scipy.special.stdtrit(len(rows) - 1, 1 - ALPHA / 2)) * error
    return Difference(
        value=value,
        ci=percentiles(drawn_means),
        t_ci=_clip_to_bounds([value - reach, value + reach], bounds),
        p=bootstrap_p(drawn_means),
        p_t=_t_test(value, error, len(rows)),
        n=len(gap),
        n_clusters=len(rows),
    )


def compare_credits(a: Floats, b: Floats, clusters: Sequence[str] | None) -> dict[str, Any]:
    """Compare credits (n,) of two models over the items that both scored, at least one: shares, and their tests."""
    in_both = ~(np.isnan(a) | np.isnan(b))
    return {
        "a": mean(a[in_both]),
        "b": mean(b[in_both]),
        "difference": paired_difference(a, b, clusters).plain(),
        "mcnemar": mcnemar(a, b).plain(),
        "items_to_separate": items_to_separate(a, b, clusters),
    }


def bootstrap_p(drawn_means: Floats) -> float:
    """Compute the two-sided p of "no difference" from drawn differences: twice the smaller tail, draws at zero in both.

    One is added above and below the line, so that p is never 0 with finitely many draws (Davison & Hinkley 1997).
    """
    low = int((drawn_means <= NOTHING).sum())
    high = int((drawn_means >= -NOTHING).sum())
    return min(1.0, 2.0 * (1 + min(low, high)) / (len(drawn_means) + 1))


def _exact_interval(rows: Floats, value: float, error: float, bounds: Bounds | None) -> list[float] | None:
    if error <= NOTHING:
        return without_spread(value, len(rows), bounds) if bounds else None
    return subset_interval(rows) or (list(bounds) if bounds else None)


def _clip_to_bounds(interval: list[float], bounds: Bounds | None) -> list[float]:
    return [max(bounds[0], interval[0]), min(bounds[1], interval[1])] if bounds else interval


def _needs_exact(error: float, clusters: int) -> bool:
    return clusters < FEW_CLUSTERS or error <= NOTHING


def _t_test(value: float, error: float, clusters: int) -> float:
    return 1.0 if abs(value) <= NOTHING else float(2 * scipy.special.stdtr(clusters - 1, -abs(value) / error))


@dataclass(frozen=True)
class McNemar:
    """Items that only A or only B has right; `p` of the exact test, None if an answer is neither right nor wrong."""

    both: int
    only_a: int
    only_b: int
    neither: int
    p: float | None
    n_partial: int

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def mcnemar(a: Floats, b: Floats) -> McNemar:
    """Run McNemar's exact test on two models' credits (n,) on the same items.

    Under "no difference" an item on which they differ is a fair coin: p = min(1, 2 P[X <= min(only_a, only_b)]), X
    binomial(only_a + only_b, 1/2). E.g. 1 against 8: 2 (1 + 9) / 2^9 = .0391. Items where a tie earned a part of the
    credit are counted in `n_partial` and left out: the test knows right and wrong only. It assumes independent items;
    the cluster bootstrap does not.
    """
    scored = ~(np.isnan(a) | np.isnan(b))
    untied = scored & np.isin(a, (0.0, 1.0)) & np.isin(b, (0.0, 1.0))
    right_a, right_b = a[untied] == 1.0, b[untied] == 1.0
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    differ = only_a + only_b
    p = float(scipy.stats.binomtest(only_a, differ).pvalue) if differ else 1.0
    return McNemar(
        both=int((right_a & right_b).sum()),
        only_a=only_a,
        only_b=only_b,
        neither=int((~right_a & ~right_b).sum()),
        p=p if untied.any() else None,
        n_partial=int((scored & ~untied).sum()),
    )


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's method (Holm 1979), in the order given.

    The smallest of m is multiplied by m, the next by m - 1 ..., each at least the one before, at most 1.
    E.g. .01, .04, .03 -> .03, .06, .06.
    """
    adjusted = [0.0] * len(values)
    worst = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda k: values[k])):
        worst = max(worst, min(1.0, values[index] * (len(values) - rank)))
        adjusted[index] = worst
    return adjusted


def pairwise_tests(credit: Floats, clusters: Sequence[str] | None) -> Floats:
    """Return the p of the cluster t test for each pair of models, two-sided, Holm over all pairs.

    `credit` (models, n) -> (models, models). Few clusters, and gaps without spread, are tested exactly (metrics.exact).
    The diagonal is 1, and so is a pair that shares fewer than two clusters: its difference cannot be tested.
    """
    models, n = credit.shape
    out = np.ones((models, models))
    if clusters is None:
        index = np.arange(n)
    else:
        index = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1]
    pairs = [(i, j) for i in range(models) for j in range(i + 1, models)]
    together = _tests_on_shared_items(credit, index)
    adjusted = holm([together.get(pair) or _pair_p(credit[pair[0]], credit[pair[1]], index) for pair in pairs])
    for (i, j), p in zip(pairs, adjusted, strict=True):
        out[i, j] = out[j, i] = p
    return out


def _tests_on_shared_items(credit: Floats, index: NDArray[np.int64]) -> dict[tuple[int, int], float]:
    """Return {pair: p} of the models that scored the same items as the first: all from one product of cluster
    residuals.

    Pairs whose spread nearly cancels are left to the exact sum, as are pairs of other items and all of few clusters.
    """
    has_score = ~np.isnan(credit)
    alike = [k for k in range(len(credit)) if (has_score[k] == has_score[0]).all()]
    if len(alike) < 2 or not has_score[0].any():
        return {}
    cluster = np.unique(index[has_score[0]], return_inverse=True)[1]
    sizes = np.bincount(cluster).astype(np.float64)
    if len(sizes) < FEW_CLUSTERS:
        return {}
    values = credit[alike][:, has_score[0]]
    sums = np.stack([np.bincount(cluster, weights=row) for row in values])
    means = values.mean(axis=1)
    residual = sums - means[:, None] * sizes
    product = residual @ residual.T
    variances = np.diag(product)
    p_of_pair = {}
    for i, first in enumerate(alike):
        for j in range(i + 1, len(alike)):
            spread = variances[i] + variances[j] - 2 * product[i, j]
            if spread > CANCELLED * (variances[i] + variances[j]):
                error = math.sqrt(spread * len(sizes) / (len(sizes) - 1)) / len(cluster)
                p_of_pair[first, alike[j]] = _t_test(float(means[i] - means[j]), error, len(sizes))
    return p_of_pair


def _pair_p(a: Floats, b: Floats, index: NDArray[np.int64]) -> float:
    in_both = ~(np.isnan(a) | np.isnan(b))
    gap, cluster = a[in_both] - b[in_both], index[in_both]
    counts = np.bincount(cluster)
    is_drawn = counts > 0
    rows = np.column_stack([np.bincount(cluster, weights=gap)[is_drawn], counts[is_drawn].astype(np.float64)])
    if len(rows) < 2:
        return 1.0
    error = cluster_error(rows)[1]
    if _needs_exact(error, len(rows)):
        return sign_flip_p(rows[:, 0])
    return _t_test(float(gap.mean()), error, len(rows))


def tied_groups(p: Floats, *, alpha: float = ALPHA) -> list[int]:
    """Return group numbers 1, 2 ... of models given best first, from their (m, m) matrix of adjusted p.

    A group is its best model and the following models that do not differ significantly from it (p >= alpha). The first
    model that does opens the next group. E.g. p of 1-2 .6, 1-3 .01, 2-3 .2 -> groups 1, 1, 2.
    """
    groups: list[int] = []
    leader = 0
    for model in range(len(p)):
        if model and p[leader, model] < alpha:
            leader = model
            groups.append(groups[-1] + 1)
        else:
            groups.append(groups[-1] if groups else 1)
    return groups


def items_to_separate(
    a: Floats, b: Floats, clusters: Sequence[str] | None, *, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """Compute how many similar items would show the observed difference of A and B with the given power.

    The error of a mean falls with the root of the number of items: n' = n ((z_{1-alpha/2} + z_power) error / gap)^2,
    with the cluster-robust error of the paired difference, so that new items are taken to cluster as these do. At least
    the number of clusters that the exact test needs. None without a difference or with fewer than two shared clusters.
    """
    in_both = ~(np.isnan(a) | np.isnan(b))
    gap = a[in_both] - b[in_both]
    names = None if clusters is None else [name for name, is_shared in zip(clusters, in_both, strict=True) if is_shared]
    if not len(gap):
        return None
    rows = cluster_sums(np.column_stack([gap, np.ones(len(gap))]), names)
    value = mean(gap)
    if len(rows) < 2 or abs(value) <= NOTHING:
        return None
    reach = float(scipy.special.ndtri(1 - alpha / 2) + scipy.special.ndtri(power))
    least = math.ceil(clusters_needed(alpha) * len(gap) / len(rows))
    return max(least, math.ceil(len(gap) * (reach * cluster_error(rows)[1] / value) ** 2))
