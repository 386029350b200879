"""Fit Dawid-Skene and MACE with crowd-kit. Only `skill.compute` loads it, and only jobs and commands call that.

The E-step of MACE is reimplemented with arrays: crowd-kit's version groups a pandas table seven times at each of 255
steps, which took nearly all the time of a report. crowd-kit imports pandas and, through the package's other models,
transformers; pages must not load those seconds and that memory.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation.classification import MACE, DawidSkene
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

ITERATIONS = 100
# crowd-kit uses the same seed for each of its restarts; these differ.
MACE_SEEDS = range(5)
# As its E-step keeps a likelihood that underflows from minus infinity.
MIN_LIKELIHOOD = 1e-300


@dataclass(frozen=True)
class Fit:
    """`posterior`: (units, categories), rows sum to 1. `skill`: (annotators,) in 0..1.

    Dawid-Skene's skill: the probability that the annotator names the true category, over the estimated priors and the
    annotator's own error matrix. MACE's: its competence theta, the probability of not guessing.
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
    """Fit MACE (Hovy et al. 2013) with variational Bayes; the likeliest of several starts. See `dawid_skene`
    for codes."""
    # crowd-kit sorts some tables by code and numbers others by first appearance; here both orders are equal.
    u, a, c = (_by_appearance(codes) for codes in (units, annotators, labels))
    shape = _shape(u.codes, a.codes, c.codes)
    best: tuple[float, Fit] | None = None
    with _quiet():
        for seed in MACE_SEEDS:
            model = InArrays(n_restarts=1, random_state=seed).fit(_frame(u.codes, a.codes, c.codes))
            likely = _mace_likelihood(model.spamming_, model.thetas_, u.codes, a.codes, c.codes, shape)
            assert model.probas_ is not None
            if best is None or likely > best[0]:
                found = model.probas_.reindex(index=range(shape[0]), columns=range(shape[2])).to_numpy(np.float64)
                best = likely, Fit(found, np.asarray(model.spamming_[:, 1] / model.spamming_.sum(axis=1)))
    assert best is not None
    fit = best[1]
    return Fit(fit.posterior[u.place][:, c.place], np.clip(fit.skill[a.place], 0.0, 1.0))


class InArrays(MACE):
    """Run crowd-kit's MACE for codes numbered by first appearance, with an E-step that needs no tables."""

    def _e_step(
        self,
        annotation: pd.DataFrame,
        task_names: Any,
        worker_names: Any,
        label_names: Any,
        tasks: Codes,
        workers: Codes,
        labels: Codes,
    ) -> tuple[float, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        people, categories = len(worker_names), len(label_names)
        guessed = self.spamming_[workers, 0] * self.thetas_[workers, labels]
        knowing = self.spamming_[workers, 1]
        said = labels[:, np.newaxis] == np.arange(categories)
        # (votes, categories): how likely the vote is if the category is true.
        chances = guessed[:, np.newaxis] + knowing[:, np.newaxis] * said
        true = np.ones((len(task_names), categories))
        np.multiply.at(true, tasks, chances)
        true /= categories
        of_units = true.sum(axis=1)
        by_guess = (true[tasks] / chances).sum(axis=1) * guessed / of_units[tasks]
        known = true[tasks, labels] * knowing / (guessed + knowing) / of_units[tasks]
        strategies = np.bincount(workers * categories + labels, by_guess, people * categories)
        states = np.stack([np.bincount(workers, each, people) for each in (by_guess, known)], axis=1)
        return (
            float(np.log(of_units + 1e-8).sum()),
            pd.DataFrame(true, index=task_names, columns=label_names),
            pd.DataFrame(strategies.reshape(people, categories)),
            pd.DataFrame(states),
        )


def _mace_likelihood(
    spamming: Floats, strategies: Floats, units: Codes, annotators: Codes, labels: Codes, shape: tuple[int, int, int]
) -> float:
    """Log likelihood of the votes: true categories are equally likely, competent answers true, others by strategy."""
    guessed = spamming[annotators, 0] * strategies[annotators, labels]
    logs = np.zeros((shape[0], shape[2]))
    for category in range(shape[2]):
        chance = guessed + spamming[annotators, 1] * (labels == category)
        np.add.at(logs[:, category], units, np.log(np.maximum(chance, MIN_LIKELIHOOD)))
    return float(np.logaddexp.reduce(logs - np.log(shape[2]), axis=1).sum())


@dataclass(frozen=True)
class _Order:
    """`codes`: (v,) numbered by first appearance; `place`: (n,) the new index of each old code k."""

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
    """Silence warnings of crowd-kit 1.4, which writes pandas code that pandas 4 refuses; the extra pins pandas < 4."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
