"""Fit a linear model that chooses one option per item: McFadden's conditional logit."""

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MAX_STEPS = 30


def fit_choices(
    features: sparse.csr_matrix | Floats,
    sizes: Codes,
    right: Floats,
    penalty: float,
    start: Floats | None = None,
    is_positive: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return (F,) weights that minimize the negative log-likelihood of the right options plus penalty / 2 * |w|^2.

    `features`: (R, F), the options of an item in consecutive rows; `sizes`: (n,) rows per item; `right`: (R,) 0 or 1.
    A feature that all options of an item share has no effect, so no centring is needed and sparse rows stay sparse.
    `start`: weights to start from; they must not know the items that are held out. `is_positive`: (F,) weights that are
    not below 0.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    item = np.repeat(np.arange(len(sizes)), sizes)
    transposed = features.T

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        scores -= np.maximum.reduceat(scores, starts)[item]
        exponentials = np.exp(scores)
        totals = np.add.reduceat(exponentials, starts)
        value = np.log(totals).sum() - scores @ right + penalty / 2 * weights @ weights
        return value, transposed @ (exponentials / totals[item] - right) + penalty * weights

    begin = np.zeros(features.shape[1]) if start is None else start
    bounds = None if is_positive is None else scipy.optimize.Bounds(np.where(is_positive, 0.0, -np.inf), np.inf)
    options = {"maxiter": MAX_STEPS, "maxcor": 6, "ftol": 1e-6}
    return scipy.optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
