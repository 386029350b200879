"""Compute classification accuracy over samples and groups of them, for one or several models (UTD, Secs. 4 and 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals, t_interval

VERSION = "2"
INPUT = "answers"


@dataclass(frozen=True)
class Answers:
    """n samples. `right`: (n,) 1 right, 0 wrong, by model; `classes` their true classes, empty if unknown.

    `groups`: of each sample, such as the two questions about one clip; empty if there are none.
    """

    ids: Sequence[str]
    classes: Sequence[str]
    clusters: Sequence[str]
    right: Mapping[str, NDArray[np.float64]]
    groups: Sequence[str] = ()


def compute(data: Answers, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute accuracy over samples with intervals, and the unweighted mean over known classes, per model.

    `chance` is one over the number of classes. E.g. right 1, 1, 0 in class a and 0 in b: accuracy 1/2, class mean 1/3.
    With groups, `group_accuracy` is the share of groups whose samples are all right; a group belongs to the cluster of
    its first sample.
    """
    if not len(data.ids):
        raise EvaluationError("there are no samples; give at least one")
    names = sorted(set(data.classes) - {""})
    labels = np.asarray(data.classes, dtype=object)
    models = []
    for model, right in data.right.items():
        (interval,) = mean_intervals(right[:, None], data.clusters, draws=draws, seed=seed)
        by_class = [mean(right[labels == name]) for name in names]
        models.append(
            {
                "model": model,
                "accuracy": mean(right),
                "ci": interval,
                "t_ci": t_interval(right, data.clusters),
                "class_mean": mean(np.array(by_class)) if by_class else None,
                "n": len(right),
                **(_of_groups(right, data, draws, seed) if data.groups else {}),
            }
        )
    return {"models": models, "n": len(data.ids), "n_classes": len(names), "chance": 1 / len(names) if names else None}


def _of_groups(right: NDArray[np.float64], data: Answers, draws: int, seed: int) -> dict[str, Any]:
    labels = np.asarray(data.groups, dtype=object).astype(str)
    _names, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    all_right = np.ones(len(first))
    np.minimum.at(all_right, codes, right)
    clusters = [data.clusters[sample] for sample in first]
    (interval,) = mean_intervals(all_right[:, None], clusters, draws=draws, seed=seed)
    return {"group_accuracy": mean(all_right), "group_ci": interval, "n_groups": len(first)}
