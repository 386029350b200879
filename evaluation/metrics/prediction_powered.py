"""Estimate a share over all items from the judged ones and a model's verdicts on all (Angelopoulos et al. 2023).

The model's mean over the other items is corrected by its error on the judged ones, so a biased model gives no bias.
Its weight is the one that makes the variance smallest (PPI++, Angelopoulos et al. 2024): a useless model gets
the weight 0, and the estimate is that of the judged items alone.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import NOTHING, cluster_error, cluster_sums, score_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CorrectedShare:
    """Shares in 0..1 with 95 % intervals. `judged`: of the judged items alone; `value`: with the model, corrected;
    `uncorrected`: what the model alone says. `weight` of the model; `worth`: the number of judged items that alone
    would be as precise.
    """

    value: float
    ci: list[float]
    judged: float
    judged_ci: list[float]
    uncorrected: float
    weight: float
    n: int
    n_others: int
    worth: float

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def corrected_share(
    truth: Floats,
    predicted: Floats,
    predicted_others: Floats,
    clusters: Sequence[str] | None = None,
    clusters_of_others: Sequence[str] | None = None,
) -> CorrectedShare:
    """Compute the corrected share of n judged items, (n,) 0 or 1, with the model's verdicts on them and on N others.

    Judged items must be a random sample of all. The interval is Wilson's with the number of items that are as precise
    as the estimate, so without a model and clusters it is Wilson's own. At least two judged items.
    """
    n, n_others = len(truth), len(predicted_others)
    weight = tuned_weight(truth, predicted, n_others)
    of_others = float(predicted_others.mean()) if n_others else 0.0
    value = float(truth.mean()) + weight * (of_others - float(predicted.mean()))
    own_variance = _variance(truth, clusters)
    variance = _variance(truth - weight * predicted, clusters)
    if n_others > 1:
        variance += weight**2 * _variance(predicted_others, clusters_of_others)
    value = min(1.0, max(0.0, value))
    judged = float(truth.mean())
    worth = n * own_variance / variance if min(own_variance, variance) > NOTHING else float(n)
    all_predicted = np.concatenate([predicted, predicted_others])
    return CorrectedShare(
        value=value,
        ci=_interval(value, variance, n, n + n_others),
        judged=judged,
        judged_ci=_interval(judged, own_variance, n, n),
        uncorrected=float(all_predicted.mean()),
        weight=weight,
        n=n,
        n_others=n_others,
        worth=worth,
    )


def tuned_weight(truth: Floats, predicted: Floats, n_others: int) -> float:
    """Compute the weight in 0..1 that makes the variance smallest: cov(truth, model) / (var(model) (1 + n / N)).

    Both are of the judged items: with the variance over all items, the estimate is biased in small samples.
    E.g. a model that is always right, n = 100 and N = 300: 1 / (1 + 1/3) = .75, which gives the mean of all 400.
    """
    if n_others < 2:
        return 0.0
    (_own, together), (_together, spread) = np.cov(truth, predicted)
    if spread <= NOTHING:
        return 0.0
    return min(1.0, max(0.0, float(together / spread) / (1 + len(truth) / n_others)))


def _variance(values: Floats, clusters: Sequence[str] | None) -> float:
    """Return the squared cluster-robust standard error of the mean."""
    rows = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    return cluster_error(rows)[1] ** 2 if len(rows) > 1 else 0.0


def _interval(value: float, variance: float, n: int, most: int) -> list[float]:
    spread = value * (1.0 - value)
    precise_as = spread / variance if min(spread, variance) > NOTHING else float(n)
    return score_interval(value, min(precise_as, float(most)))
