"""Compute intervals for every number: cluster bootstrap, cluster-robust t, Wilson
(docs/reference/formulas.md#statistics).

A record's cluster is its source video: two questions on one clip are not two independent draws. (For
validators' answers the cluster is the item: docs/reference/formulas.md#metric-alpha.) All functions take the
per-cluster sums of a statistic's parts, so that a ratio, an accuracy and an alpha resample the same way.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

# Not scipy.stats: its import takes most of a second, for three functions.
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The range of a mean.
Bounds = tuple[float, float]
Codes = NDArray[np.int64]

DRAWS = 10_000
SEED = 0
LEVEL = 0.95
# Maximum bytes of one block of draws, for any number of records.
BLOCK_BYTES = 32 * 2**20
# Sums of equal credits can differ in their last bits by the order of addition; below this they count as equal.
DECIMALS = 12
# Differences of equal sums by the order of addition do not count as spread.
NOTHING = 1e-12
SHARES: Bounds = (0.0, 1.0)


def cluster_codes(clusters: Sequence[str]) -> Codes | None:
    """Return clusters as numbers; None if each record is its own cluster, so nothing needs to be added up."""
    if len(set(clusters)) == len(clusters):
        return None
    codes = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    return np.fromiter(map(codes.__getitem__, clusters), np.int64, len(clusters))


def cluster_sums(values: Floats, clusters: Sequence[str] | Codes | None) -> Floats:
    """Add up `values` (n, m) per cluster: (C, m). Without clusters, every row is its own."""
    if clusters is None:
        return values
    if isinstance(clusters, np.ndarray):
        _, index = np.unique(clusters, return_inverse=True)
    else:
        # An array of texts would give each the room of the longest.
        names = list(map(str, clusters))
        codes = {name: code for code, name in enumerate(sorted(set(names)))}
        index = np.fromiter((codes[name] for name in names), dtype=np.int64, count=len(names))
    sums = np.zeros((int(index.max()) + 1, values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def resampled_sums(rows: Floats, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """Return (draws, m) column sums of C rows drawn with replacement from `rows` (C, m), in bounded memory.

    Equal rows are exchangeable, so where few rows differ (shares of right answers, vote tallies) a draw is one
    multinomial over the distinct rows: the same distribution at a small part of the cost. The result does not
    depend on the order of the rows.
    """
    count = len(rows)
    distinct, times = _distinct(np.round(rows, DECIMALS))
    generator = np.random.default_rng(seed)
    out = np.empty((draws, rows.shape[1]))
    few = len(distinct) * 4 <= count
    bytes_per_draw = 8 * len(distinct) if few else 8 * count * 4
    step = max(1, min(draws, BLOCK_BYTES // max(1, bytes_per_draw)))
    ordered = distinct if few else np.repeat(distinct, times, axis=0)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        if few:
            out[start : start + size] = generator.multinomial(count, times / count, size=size) @ distinct
        else:
            # Count the picks of each row, then one product: gathering the rows takes four times as long.
            row_indices = generator.integers(0, count, size=(size, count), dtype=np.int64)
            row_indices += count * np.arange(size)[:, None]
            times_picked = np.bincount(row_indices.ravel(), minlength=size * count).reshape(size, count)
            out[start : start + size] = times_picked.astype(np.float64) @ ordered
    return out


def _distinct(rows: Floats) -> tuple[Floats, Codes]:
    """Replace np.unique(rows, axis=0, return_counts=True), which sorts whole rows and takes ten times as long."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    return ordered[starts], np.diff(starts, append=len(rows))


def bootstrap(
    rows: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> list[float] | None:
    """Compute the percentile interval [low, high] of `statistic` (maps (draws, m) sums to (draws,) values) over
    clusters.

    None with fewer than two clusters, or when no draw gives a finite value.
    """
    return percentiles(bootstrap_values(rows, statistic, draws=draws, seed=seed), level=level)


def bootstrap_values(
    rows: Floats, statistic: Callable[[Floats], Floats], *, draws: int = DRAWS, seed: int = SEED
) -> Floats:
    """Return the statistic of each draw of clusters, (draws,), not finite if the draw leaves it undefined; empty for
    one cluster.
    """
    return statistic(resampled_sums(rows, draws=draws, seed=seed)) if len(rows) > 1 else np.empty(0)


def percentiles(values: Floats, *, level: float = LEVEL) -> list[float] | None:
    """Return [low, high] that leave (1 - level) / 2 of the finite values outside on each side; None without any."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(finite, [tail, 100.0 - tail])
    return [float(low), float(high)]


def mean_intervals(
    values: Floats,
    clusters: Sequence[str] | Codes | None,
    *,
    bounds: Bounds | Sequence[Bounds | None] = SHARES,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[list[float] | None]:
    """Compute cluster-bootstrap intervals of the mean of each column of `values` (n, m), from the same draws.

    `bounds`: the range of a value, of all columns or of each; None if unbounded. A column with equal means in all
    clusters gets the interval of `without_spread`, because each of its draws is equal.
    """
    rows = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    if len(rows) < 2:
        return [None] * values.shape[1]
    sums = resampled_sums(rows, draws=draws, seed=seed)
    bounds_of_columns = [bounds] * values.shape[1] if isinstance(bounds, tuple) else bounds
    intervals: list[list[float] | None] = []
    for column, limits in zip(range(values.shape[1]), bounds_of_columns, strict=True):
        centre = rows[:, column].sum() / rows[:, -1].sum()
        spread = np.abs(rows[:, column] - centre * rows[:, -1]).max()
        if limits is not None and spread <= NOTHING * rows[:, -1].max():
            intervals.append(without_spread(float(centre), len(rows), limits))
        else:
            intervals.append(percentiles(sums[:, column] / sums[:, -1]))
    return intervals


def cluster_error(rows: Floats) -> tuple[float, float]:
    """Return the mean of C >= 2 clusters with sums and sizes (C, 2), and its cluster-robust standard error."""
    count, total = len(rows), math.fsum(rows[:, 1])
    centre = math.fsum(rows[:, 0]) / total
    spread = math.fsum((rows[:, 0] - centre * rows[:, 1]) ** 2)
    return centre, math.sqrt(spread * count / (count - 1)) / total


def without_spread(value: float, clusters: int, bounds: Bounds, *, level: float = LEVEL) -> list[float]:
    """Compute the interval of a mean that is equal in all observed clusters: some unseen clusters may differ.

    The share of those is at most 1 - ((1 - level) / 2)^(1/C) (Clopper & Pearson 1934, none of C), and they may be at
    either bound. E.g. four of four right: 39.8 % to 100 %.
    """
    unseen = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / clusters)
    low, high = (value * (1.0 - unseen) + bound * unseen for bound in bounds)
    return [max(bounds[0], low), min(bounds[1], high)]


def t_interval(
    values: Floats, clusters: Sequence[str] | Codes | None, *, bounds: Bounds = SHARES, level: float = LEVEL
) -> list[float] | None:
    """Compute the mean of `values` (n,) with its cluster-robust standard error and C - 1 degrees of freedom, within
    `bounds`.

    None when C < 2; without spread the interval of `without_spread`.
    """
    rows = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    count = len(rows)
    if count < 2:
        return None
    centre, error = cluster_error(rows)
    if error <= NOTHING:
        return without_spread(centre, count, bounds, level=level)
    reach = float(scipy.special.stdtrit(count - 1, 0.5 + level / 2)) * error
    return [max(bounds[0], centre - reach), min(bounds[1], centre + reach)]


def wilson(right: int, total: int, *, level: float = LEVEL) -> list[float] | None:
    """Compute Wilson's score interval of a share; None if n is 0."""
    return score_interval(right / total, total, level=level) if total else None


def score_interval(share: float, total: float, *, level: float = LEVEL) -> list[float]:
    """Compute Wilson's score interval of a share that is as precise as that of `total` independent records."""
    z = float(scipy.special.ndtri(0.5 + level / 2))
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return [max(0.0, centre - reach), min(1.0, centre + reach)]


def exact_binomial(hits: int, n: int, *, level: float = LEVEL) -> list[float]:
    """Compute the interval of a probability from `hits` of n draws, by beta quantiles (Clopper & Pearson 1934).

    It covers the probability in at least `level` of all samples, however few there are. E.g. 8 of 10: .444 to .975.
    """
    tail = (1.0 - level) / 2.0
    low = float(scipy.special.betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(scipy.special.betaincinv(hits + 1, n - hits, 1.0 - tail)) if hits < n else 1.0
    return [low, high]


def mean(values: Floats) -> float:
    """Return the correctly rounded mean, so that the order of the records cannot change the last digit."""
    return math.fsum(values.tolist()) / len(values)
