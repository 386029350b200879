"""Fit logistic regression block by block: memory grows with a block and the coefficients, not with the samples.

Objective, start and solver are those of scikit-learn's `LogisticRegression` (lbfgs), so the optimum is the same.
Samples that occur several times, as in a bootstrap sample, are read once and counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
BLOCK_BYTES = 32 * 2**20
# Training rows up to this size stay in memory; more are read from a temporary file in every iteration.
HELD_BYTES = 256 * 2**20
# Multiplications per pass from which several threads pay.
THREADED = 2**28
# Of the largest slope at the start. The default of scikit-learn is 1e-4 itself; with many classes the start is below
# it, and the model would stay there.
TOLERANCE = 1e-4
# As scikit-learn.
RELATIVE_CHANGE, LINE_SEARCH_STEPS = 64 * np.finfo(float).eps, 50


class Rows(Protocol):
    """Vectors, (n, d), that are read block by block."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, at: Any, /) -> Any: ...


@dataclass(frozen=True)
class Linear:
    """A fitted model: `classes` (k,) in order, `weights` (d, k), `intercepts` (k,); one column for two classes."""

    classes: NDArray[np.int64]
    weights: Doubles
    intercepts: Doubles
    iterations: int

    def log_probabilities(self, vectors: Any) -> Doubles:
        """Compute log-probabilities of `vectors` (m, d), (m, k)."""
        scores = np.asarray(vectors, np.float64) @ self.weights + self.intercepts
        if scores.shape[1] == 1:
            return np.asarray(np.hstack([log_expit(-scores), log_expit(scores)]))
        return np.asarray(log_softmax(scores, axis=1))


def fit(
    rows: Rows,
    labels: NDArray[np.int64],
    *,
    counts: NDArray[np.int64] | None = None,
    inverse_regularisation: float = 1.0,
    iterations: int = 1_000,
    scratch: Path | None = None,
) -> Linear:
    """Fit `labels` (n,) of at least two classes from `rows` (n, d), each scaled to length 1.

    `counts` (n,): how often a row counts, 0 for never. `scratch`: folder of the temporary file.
    """
    row_indices = np.arange(len(labels)) if counts is None else np.flatnonzero(counts)
    weights = np.ones(len(row_indices)) if counts is None else counts[row_indices].astype(np.float64)
    classes, targets = np.unique(labels[row_indices], return_inverse=True)
    columns = 1 if len(classes) == 2 else len(classes)
    width = rows.shape[1]
    with _Scaled(rows, row_indices, scratch) as scaled:
        objective = _Objective(scaled, targets, weights, columns, 1.0 / (inverse_regularisation * weights.sum()))
        start = np.zeros((width + 1) * columns)
        tolerance = TOLERANCE * float(np.abs(objective(start)[1]).max())
        options = {"maxiter": iterations, "maxls": LINE_SEARCH_STEPS, "gtol": tolerance, "ftol": RELATIVE_CHANGE}
        # Threads that wait for each other cost a small fit more than its work.
        threads = 1 if len(row_indices) * width * columns < THREADED else None
        with threadpool_limits(threads, "blas"):
            solution = minimize(objective, start, method="L-BFGS-B", jac=True, options=options)
    solved = solution.x.reshape(width + 1, columns)
    return Linear(classes, solved[:width], solved[width], int(solution.nit))


class _Scaled:
    """The chosen rows at length 1, in memory or in a temporary file, block by block."""

    def __init__(self, rows: Rows, row_indices: NDArray[np.int64], scratch: Path | None) -> None:
        self.rows, self.row_indices, self.scratch, self.width = rows, row_indices, scratch, rows.shape[1]
        self.step = max(1, BLOCK_BYTES // (4 * self.width))

    def __enter__(self) -> "_Scaled":
        fits_memory = len(self.row_indices) * self.width * 4 <= HELD_BYTES
        self._blocks: list[Floats] | None = [] if fits_memory else None
        self._file: Any = None if fits_memory else TemporaryFile(dir=self.scratch)
        for start in range(0, len(self.row_indices), self.step):
            block = scaled(self.rows[self.row_indices[start : start + self.step]])
            if self._blocks is None:
                block.tofile(self._file)
            else:
                self._blocks.append(block)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            self._file.close()
        self._blocks = []

    def __iter__(self) -> Iterator[Floats]:
        if self._blocks is not None:
            yield from self._blocks
            return
        self._file.seek(0)
        for start in range(0, len(self.row_indices), self.step):
            count = min(self.step, len(self.row_indices) - start)
            yield np.fromfile(self._file, np.float32, count * self.width).reshape(count, self.width)


class _Objective:
    """Mean loss with L2 penalty, and its gradient, summed over blocks in double precision."""

    def __init__(
        self, rows: _Scaled, targets: NDArray[np.int64], weights: Doubles, columns: int, penalty: float
    ) -> None:
        self.rows, self.targets, self.weights, self.columns, self.penalty = rows, targets, weights, columns, penalty
        self.total = weights.sum()

    def __call__(self, flat: Doubles) -> tuple[float, Doubles]:
        solved = flat.reshape(-1, self.columns)
        matrix, intercepts = solved[:-1].astype(np.float32), solved[-1]
        gradient, loss, at = np.zeros_like(solved), 0.0, 0
        for block in self.rows:
            own = slice(at, at + len(block))
            at += len(block)
            lost, slope = self._at(block @ matrix + intercepts, self.targets[own])
            loss += float(self.weights[own] @ lost)
            slope *= self.weights[own, None]
            gradient[:-1] += block.T @ slope.astype(np.float32)
            gradient[-1] += slope.sum(axis=0)
        gradient /= self.total
        gradient[:-1] += self.penalty * solved[:-1]
        return loss / self.total + 0.5 * self.penalty * float(np.vdot(solved[:-1], solved[:-1])), gradient.ravel()

    def _at(self, scores: Doubles, targets: NDArray[np.int64]) -> tuple[Doubles, Doubles]:
        """Return the loss of each row, and its derivative by the scores."""
        if self.columns == 1:
            single = scores[:, 0]
            return -log_expit(np.where(targets == 1, single, -single)), expit(scores) - targets[:, None]
        logs = log_softmax(scores, axis=1)
        row_indices = np.arange(len(targets))
        slope = np.exp(logs)
        slope[row_indices, targets] -= 1.0
        return -logs[row_indices, targets], slope


def scaled(vectors: Any) -> Floats:
    """Scale the last axis to length 1; a zero vector does not change."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
