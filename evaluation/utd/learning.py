"""Compute learning curves: how the share of object-biased samples depends on the size of the train split."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import mean
from evaluation.utd import bias_measures
from evaluation.utd.bias_measures import Rows
from evaluation.utd.procedure import STRATIFIED, Procedure
from evaluation.utd.splits import consensus

SMALLEST = 8
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class _RowSubset:
    """The rows at `indices` of `rows` (n, d), read when they are needed."""

    rows: Rows
    indices: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.indices), *self.rows.shape[1:])

    @property
    def ndim(self) -> int:
        return self.rows.ndim

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, at: Any, /) -> Any:
        return self.rows[self.indices[at]]


def sizes_of(labels: Labels) -> list[int]:
    """Return the most train videos per class to measure: 8, 16, 32 … and all of the largest class."""
    largest = int(np.bincount(labels).max())
    sizes = [SMALLEST]
    while sizes[-1] * 2 < largest:
        sizes.append(sizes[-1] * 2)
    return [*(size for size in sizes if size < largest), largest]


def curve_of(
    train: Sequence[Rows],
    train_labels: Labels,
    test: Sequence[Rows],
    labels: Labels,
    n_classes: int,
    procedure: Procedure,
    seed: int = 0,
    scratch: Path | None = None,
) -> list[dict[str, Any]]:
    """Return one row per size: {"per_class", "n_train", "full", "nine", "lowest", "biased"}.

    `train`, `test`: three embeddings of the object sequences, each (., d). A smaller train split is a part of each
    larger one. `full`: accuracy of the model of the whole part; `nine`, `lowest`: mean and smallest accuracy of the
    nine models; `biased`: the share of samples on which all nine are right. `scratch`: folder of temporary files.
    """
    order = np.random.default_rng(seed).permutation(len(train_labels))
    rows = []
    for size in sizes_of(train_labels):
        row_indices = np.sort(
            np.concatenate([order[train_labels[order] == label][:size] for label in np.unique(train_labels)])
        )
        learnt, own = [_RowSubset(some, row_indices) for some in train], train_labels[row_indices]
        full = bias_measures.fitted(learnt[0], own, n_classes, c=procedure.c, scratch=scratch)
        right, _ = bias_measures.nine_classifiers(
            learnt,
            own,
            test,
            labels,
            n_classes,
            seed=seed,
            stratified=procedure.bootstrap == STRATIFIED,
            c=procedure.c,
            scratch=scratch,
        )
        credits, _sure = full.judged(test[0], labels)
        rows.append(
            {
                "per_class": size,
                "n_train": len(row_indices),
                "full": mean(credits),
                "nine": float(right.mean()),
                "lowest": float(right.mean(axis=0).min()),
                "biased": float(consensus(right).mean()),
            }
        )
    return rows
