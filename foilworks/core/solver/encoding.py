"""Count in training folds how often each key is right, and score options by their keys.

Target encoding with shrinkage, out of fold: an option's score never uses its own fold.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foilworks.core.solver.keys import KeysOfOptions

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Options by which a rate is shrunk towards 0.
PRIOR = 3.0
# Score columns per family: sum and extremes of shrunken rates, and sum of z values.
N_COLUMNS = 4


class KeyCounts:
    """Per fold: the number of options with each key, and of right ones minus those expected by chance."""

    def __init__(self, keys: KeysOfOptions, surplus: Floats, fold_of_row: Codes, n_folds: int) -> None:
        """`surplus`: (R,) 1 or 0 minus chance; `fold_of_row`: (R,)."""
        self.keys, matrix = keys, keys.matrix
        shape = (n_folds, matrix.shape[1])
        self.right, self.number, self.variance = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for fold in range(n_folds):
            rows = fold_of_row == fold
            transposed = matrix[rows].T
            self.right[fold] = transposed @ surplus[rows]
            self.number[fold] = transposed @ np.ones(int(rows.sum()))
            self.variance[fold] = transposed @ surplus[rows] ** 2

    def score(self, rows: Codes, folds: Sequence[int]) -> Floats:
        """Return (rows, `N_COLUMNS`) scores of options by the counts of `folds`, which must not have these options."""
        right = self.right[folds].sum(axis=0)
        rate = right / (self.number[folds].sum(axis=0) + PRIOR)
        z_value = right / np.sqrt(self.variance[folds].sum(axis=0) + PRIOR / 4)
        matrix, has_shared = self.keys.matrix[rows], self.keys.has_shared[rows]
        rates = sparse.csr_matrix((rate[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
        highest, lowest = (_extreme(rates, has_shared, function) for function in (np.maximum, np.minimum))
        return np.column_stack([matrix @ rate, highest, lowest, matrix @ (z_value * np.abs(z_value))])


def _extreme(matrix: sparse.csr_matrix, has_zero: NDArray[np.bool_], function: np.ufunc) -> Floats:
    """Return the (rows,) highest or lowest stored value of each row, and of 0 where asked or without any."""
    values = np.zeros(matrix.shape[0])
    is_filled = np.diff(matrix.indptr) > 0
    if is_filled.any():
        values[is_filled] = function.reduceat(matrix.data, matrix.indptr[:-1][is_filled])
    return np.where(has_zero, function(values, 0.0), values)
