"""Compute learning curves: how the share of object-biased samples depends on the size of the train split."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import mean
from evaluation.utd import measures
from evaluation.utd.procedure import STRATIFIED, Procedure
from evaluation.utd.splits import consensus

SMALLEST = 8
Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


def sizes_of(labels: Labels) -> list[int]:
    """Return the train videos per class to measure: 8, 16, 32 … and all of the largest class."""
    largest = int(np.bincount(labels).max())
    sizes = [SMALLEST]
    while sizes[-1] * 2 < largest:
        sizes.append(sizes[-1] * 2)
    return [*(size for size in sizes if size < largest), largest]


def curve_of(
    train: Sequence[Floats],
    train_labels: Labels,
    test: Sequence[Floats],
    labels: Labels,
    n_classes: int,
    procedure: Procedure,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return one row per size: {"per_class", "n_train", "full", "nine", "lowest", "biased"}.

    `train`, `test`: three embeddings of the object sequences, each (., d). A smaller train split is a part of each
    larger one. `full`: accuracy of the model of the whole part; `nine`, `lowest`: mean and smallest accuracy of the
    nine models; `biased`: the share of samples on which all nine are right.
    """
    order = np.random.default_rng(seed).permutation(len(train_labels))
    rows = []
    for size in sizes_of(train_labels):
        chosen = np.sort(np.concatenate([order[train_labels[order] == one][:size] for one in np.unique(train_labels)]))
        learnt, own = [some[chosen] for some in train], train_labels[chosen]
        full = measures.fitted(learnt[0], own, n_classes, c=procedure.c)
        right, _ = measures.nine_classifiers(
            learnt,
            own,
            test,
            labels,
            n_classes,
            seed=seed,
            stratified=procedure.bootstrap == STRATIFIED,
            c=procedure.c,
        )
        credits = measures.credit_of(full.scores(measures.normalised(test[0])), labels)
        rows.append(
            {
                "per_class": size,
                "n_train": len(chosen),
                "full": mean(credits),
                "nine": float(right.mean()),
                "lowest": float(right.mean(axis=0).min()),
                "biased": float(consensus(right).mean()),
            }
        )
    return rows
