"""Compute classification accuracy over samples, for one or several models (UTD, Secs. 4 and 5)."""

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
    """n samples. `right`: (n,) 1 right, 0 wrong, by model; `classes` their true classes, empty if unknown."""

    ids: Sequence[str]
    classes: Sequence[str]
    clusters: Sequence[str]
    right: Mapping[str, NDArray[np.float64]]


def compute(data: Answers, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute accuracy over samples with intervals, and the unweighted mean over known classes, per model.

    `chance` is one over the number of classes. E.g. right 1, 1, 0 in class a and 0 in b: accuracy 1/2, class mean 1/3.
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
            }
        )
    return {"models": models, "n": len(data.ids), "n_classes": len(names), "chance": 1 / len(names) if names else None}
