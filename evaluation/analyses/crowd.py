"""Fit Dawid-Skene with crowd-kit. Only `skill.compute` loads it, and only jobs and commands call that.

crowd-kit imports pandas and, through the package's other models, transformers; pages must not load those seconds and
that memory.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from crowdkit.aggregation.classification import DawidSkene
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

ITERATIONS = 100


@dataclass(frozen=True)
class Fit:
    """`posterior`: (units, categories), rows sum to 1. `skill`: (annotators,) in 0..1.

    Skill is the probability that the annotator names the true category, over the estimated priors and the annotator's
    own error matrix.
    """

    posterior: Floats
    skill: Floats


def dawid_skene(units: Codes, annotators: Codes, labels: Codes) -> Fit:
    """Fit Dawid & Skene 1979 by EM from the majority; v votes as codes from 0 without gaps."""
    shape = _shape(units, annotators, labels)
    with _quiet():
        model = DawidSkene(ITERATIONS).fit(_frame(units, annotators, labels))
    assert model.probas_ is not None
    assert model.priors_ is not None
    assert model.errors_ is not None
    category_range = range(shape[2])
    posterior = model.probas_.reindex(index=range(shape[0]), columns=category_range, fill_value=0.0).to_numpy(
        np.float64
    )
    priors = model.priors_.reindex(category_range, fill_value=0.0).to_numpy(np.float64)
    # Rows (annotator, what they said), columns what is true: on the diagonal they are right.
    errors = model.errors_.reindex(columns=category_range, fill_value=0.0)
    skill = np.zeros(shape[1])
    for (annotator, label), row in zip(errors.index, errors.to_numpy(np.float64), strict=True):
        skill[annotator] += priors[label] * row[label]
    return Fit(posterior / posterior.sum(axis=1, keepdims=True), np.clip(skill, 0.0, 1.0))


def _frame(units: Codes, annotators: Codes, labels: Codes) -> pd.DataFrame:
    return pd.DataFrame({"task": units, "worker": annotators, "label": labels})


def _shape(units: Codes, annotators: Codes, labels: Codes) -> tuple[int, int, int]:
    return int(units.max()) + 1, int(annotators.max()) + 1, int(labels.max()) + 1


class _quiet(warnings.catch_warnings):  # noqa: N801 - used as the context manager that it is
    """Silence warnings of crowd-kit 1.4, which writes pandas code that pandas 4 refuses; the extra pins pandas < 4."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
