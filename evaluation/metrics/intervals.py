"""Intervals for every number: cluster bootstrap, cluster-robust t, Wilson (docs/reference/formulas.md#statistics).

A record's cluster is its source video: two questions on one clip are not two independent draws. (For
validators' answers the cluster is the item: docs/reference/formulas.md#metric-alpha.) All functions take the
per-cluster sums of a statistic's parts, so that a ratio, an accuracy and an alpha resample the same way.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

# Not scipy.stats: that takes a process most of a second, for three functions that live here.
from scipy import special

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

DRAWS = 10_000
SEED = 0
LEVEL = 0.95
# Bytes that one block of draws may take, whatever the number of records.
BLOCK_BYTES = 32 * 2**20
# Sums of equal credits can differ in their last bits by the order of addition; below this they count as equal.
DECIMALS = 12


def cluster_codes(clusters: Sequence[str]) -> Codes | None:
    """Clusters as numbers; None where each record is its own, so that nothing needs to be added up."""
    if len(set(clusters)) == len(clusters):
        return None
    codes = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    return np.fromiter(map(codes.__getitem__, clusters), np.int64, len(clusters))


def cluster_sums(values: Floats, clusters: Sequence[str] | Codes | None) -> Floats:
    """`values` (n, m) added up per cluster: (C, m). Without clusters every row is its own."""
    if clusters is None:
        return values
    names = clusters if isinstance(clusters, np.ndarray) else np.asarray(clusters, dtype=object).astype(str)
    _, index = np.unique(names, return_inverse=True)
    sums = np.zeros((int(index.max()) + 1, values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def resampled_sums(rows: Floats, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """(draws, m): column sums of C rows drawn with replacement from `rows` (C, m), in bounded memory.

    Equal rows are exchangeable, so where few rows differ (shares of right answers, vote tallies) a draw is one
    multinomial over the distinct rows: the same distribution at a small part of the cost. The result does not
    depend on the order of the rows.
    """
    count = len(rows)
    distinct, times = _distinct(np.round(rows, DECIMALS))
    generator = np.random.default_rng(seed)
    out = np.empty((draws, rows.shape[1]))
    few = len(distinct) * 4 <= count
    each = 8 * len(distinct) if few else 8 * count * 4
    step = max(1, min(draws, BLOCK_BYTES // max(1, each)))
    ordered = distinct if few else np.repeat(distinct, times, axis=0)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        if few:
            out[start : start + size] = generator.multinomial(count, times / count, size=size) @ distinct
        else:
            # How often each row was picked, then one product: a gather of the rows themselves takes four times as long.
            picked = generator.integers(0, count, size=(size, count), dtype=np.int64)
            picked += count * np.arange(size)[:, None]
            times_picked = np.bincount(picked.ravel(), minlength=size * count).reshape(size, count)
            out[start : start + size] = times_picked.astype(np.float64) @ ordered
    return out


def _distinct(rows: Floats) -> tuple[Floats, Codes]:
    """np.unique(rows, axis=0, return_counts=True), which sorts whole rows and takes ten times as long."""
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
    """Percentile interval [low, high] of `statistic` (maps (draws, m) sums to (draws,) values) over clusters.

    None with fewer than two clusters, or when no draw gives a finite value.
    """
    if len(rows) < 2:
        return None
    values = statistic(resampled_sums(rows, draws=draws, seed=seed))
    return percentiles(values, level=level)


def percentiles(values: Floats, *, level: float = LEVEL) -> list[float] | None:
    """[low, high] that leave (1 - level) / 2 of the finite values outside on each side; None without any."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(finite, [tail, 100.0 - tail])
    return [float(low), float(high)]


def mean_intervals(
    values: Floats, clusters: Sequence[str] | Codes | None, *, draws: int = DRAWS, seed: int = SEED
) -> list[list[float] | None]:
    """Cluster-bootstrap intervals of the mean of each column of `values` (n, m), from the same draws."""
    rows = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    if len(rows) < 2:
        return [None] * values.shape[1]
    sums = resampled_sums(rows, draws=draws, seed=seed)
    return [percentiles(sums[:, column] / sums[:, -1]) for column in range(values.shape[1])]


def t_interval(values: Floats, clusters: Sequence[str] | Codes | None, *, level: float = LEVEL) -> list[float] | None:
    """Mean of `values` (n,) with its cluster-robust standard error and C - 1 degrees of freedom; None when C < 2."""
    rows = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    count = len(rows)
    if count < 2:
        return None
    total = math.fsum(rows[:, 1])
    mean = math.fsum(rows[:, 0]) / total
    spread = math.fsum((rows[:, 0] - mean * rows[:, 1]) ** 2)
    error = math.sqrt(spread * count / (count - 1)) / total
    reach = float(special.stdtrit(count - 1, 0.5 + level / 2)) * error
    return [mean - reach, mean + reach]


def wilson(right: int, total: int, *, level: float = LEVEL) -> list[float] | None:
    """Wilson's score interval of a share; None of nothing."""
    if total == 0:
        return None
    z = float(special.ndtri(0.5 + level / 2))
    share = right / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return [max(0.0, centre - reach), min(1.0, centre + reach)]


def mean(values: Floats) -> float:
    """Correctly rounded, so that the order of the records cannot change the last digit."""
    return math.fsum(values.tolist()) / len(values)
