"""Dawid-Skene and MACE as crowd-kit has them. Only `skill.compute` loads it, and only jobs and commands call that.

crowd-kit brings pandas and, through the package's other models, transformers: seconds and memory that no page may cost.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from crowdkit.aggregation.classification import MACE, DawidSkene
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

ITERATIONS = 100
# crowd-kit starts every one of its own restarts from the same seed; these differ.
MACE_SEEDS = range(5)
# As its E-step keeps a likelihood that underflows from minus infinity.
SMALLEST = 1e-300


@dataclass(frozen=True)
class Fit:
    """`posterior`: (units, categories), rows sum to 1. `skill`: (annotators,) in 0..1.

    Dawid-Skene's skill: the probability that the annotator names the true category, over the estimated priors and the
    annotator's own error matrix. MACE's: its competence theta, the probability of not guessing.
    """

    posterior: Floats
    skill: Floats


def dawid_skene(units: Codes, annotators: Codes, labels: Codes) -> Fit:
    """Dawid & Skene 1979 by EM from the majority; v votes as codes that each start at 0 and leave none out."""
    shape = _shape(units, annotators, labels)
    with _quiet():
        model = DawidSkene(ITERATIONS).fit(_frame(units, annotators, labels))
    assert model.probas_ is not None
    assert model.priors_ is not None
    assert model.errors_ is not None
    every = range(shape[2])
    posterior = model.probas_.reindex(index=range(shape[0]), columns=every, fill_value=0.0).to_numpy(np.float64)
    priors = model.priors_.reindex(every, fill_value=0.0).to_numpy(np.float64)
    # Rows (annotator, what they said), columns what is true: on the diagonal they are right.
    errors = model.errors_.reindex(columns=every, fill_value=0.0)
    skill = np.zeros(shape[1])
    for (annotator, label), row in zip(errors.index, errors.to_numpy(np.float64), strict=True):
        skill[annotator] += priors[label] * row[label]
    return Fit(posterior / posterior.sum(axis=1, keepdims=True), np.clip(skill, 0.0, 1.0))


def mace(units: Codes, annotators: Codes, labels: Codes) -> Fit:
    """Hovy et al. 2013 with variational Bayes; the likeliest of several starts. Codes as in `dawid_skene`."""
    # crowd-kit sorts some of its tables by code and numbers others by first appearance: here the two are one order.
    u, a, c = (_by_appearance(codes) for codes in (units, annotators, labels))
    shape = _shape(u.codes, a.codes, c.codes)
    best: tuple[float, Fit] | None = None
    with _quiet():
        for seed in MACE_SEEDS:
            model = MACE(n_restarts=1, random_state=seed).fit(_frame(u.codes, a.codes, c.codes))
            likely = _mace_likelihood(model.spamming_, model.thetas_, u.codes, a.codes, c.codes, shape)
            assert model.probas_ is not None
            if best is None or likely > best[0]:
                found = model.probas_.reindex(index=range(shape[0]), columns=range(shape[2])).to_numpy(np.float64)
                best = likely, Fit(found, np.asarray(model.spamming_[:, 1] / model.spamming_.sum(axis=1)))
    assert best is not None
    fit = best[1]
    return Fit(fit.posterior[u.place][:, c.place], np.clip(fit.skill[a.place], 0.0, 1.0))


def _mace_likelihood(
    spamming: Floats, strategies: Floats, units: Codes, annotators: Codes, labels: Codes, shape: tuple[int, int, int]
) -> float:
    """Log likelihood of the votes: true categories are equally likely, competent answers true, others by strategy."""
    guessed = spamming[annotators, 0] * strategies[annotators, labels]
    logs = np.zeros((shape[0], shape[2]))
    for category in range(shape[2]):
        chance = guessed + spamming[annotators, 1] * (labels == category)
        np.add.at(logs[:, category], units, np.log(np.maximum(chance, SMALLEST)))
    return float(np.logaddexp.reduce(logs - np.log(shape[2]), axis=1).sum())


@dataclass(frozen=True)
class _Order:
    """`codes`: (v,) numbered by first appearance; `place`: (n,) where the code k of old stands now."""

    codes: Codes
    place: Codes


def _by_appearance(codes: Codes) -> _Order:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return _Order(place[inverse], place)


def _frame(units: Codes, annotators: Codes, labels: Codes) -> pd.DataFrame:
    return pd.DataFrame({"task": units, "worker": annotators, "label": labels})


def _shape(units: Codes, annotators: Codes, labels: Codes) -> tuple[int, int, int]:
    return int(units.max()) + 1, int(annotators.max()) + 1, int(labels.max()) + 1


class _quiet(warnings.catch_warnings):  # noqa: N801 - used as the context manager that it is
    """crowd-kit 1.4 writes pandas in a way that pandas 4 will refuse; the extra pins pandas below 4."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
