"""Test whether a model may replace an annotator (Calderon et al. 2025), the alternative annotator test.

Each annotator is left out once. On every unit, the model and the annotator are compared with the other annotators'
votes: the one with more agreeing votes wins, and with equally many both win. The annotator's advantage is the share of
units that they win minus the share that the model wins. A one-sided t test asks whether it is below `epsilon`, the
advantage that the model's lower cost outweighs. The p-values of all annotators are adjusted for multiple tests, which
may depend on each other (Benjamini & Yekutieli 2001).
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.metrics.intervals import NOTHING

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# The paper's advice for crowd workers; .15 for trained people, .2 for experts.
EPSILON = 0.1
FALSE_DISCOVERIES = 0.05
# The paper's minimum for the t test, and for a group of annotators.
MIN_UNITS = 30
MIN_ANNOTATORS = 3
# The model replaces people if it is at least as good as half of them.
MIN_WINNING_RATE = 0.5


@dataclass(frozen=True)
class Comparison:
    """The model against one annotator over `n` units: the shares that each wins, ties for both; `better`: rejected."""

    annotator: int
    n: int
    model: float
    person: float
    p: float
    better: bool


@dataclass(frozen=True)
class Replacement:
    """`winning_rate`: the share of annotators that the model replaces; `advantage`: its mean share of won units.

    Both are None if no annotator shares MIN_UNITS units with others; `skipped` counts annotators with fewer.
    """

    comparisons: tuple[Comparison, ...]
    skipped: int
    winning_rate: float | None
    advantage: float | None

    @property
    def passes(self) -> bool | None:
        return None if self.winning_rate is None else self.winning_rate >= MIN_WINNING_RATE


def alternative_annotator(
    unit: Codes,
    annotator: Codes,
    choice: Codes,
    model: Codes,
    *,
    epsilon: float = EPSILON,
    min_units: int = MIN_UNITS,
) -> Replacement:
    """Run the test on v votes, (v,) codes each, and on the model's choice per unit (units,), below 0 without one.

    A negative annotator names nobody: such votes count among the others, but nobody is left out for them.
    """
    categories = 1 + int(max(choice.max(initial=0), model.max(initial=0)))
    counts = np.zeros((len(model), categories), dtype=np.int64)
    np.add.at(counts, (unit, choice), 1)
    is_used = (annotator >= 0) & (model[unit] >= 0) & (counts.sum(axis=1)[unit] >= 2)
    at, person, person_choice, model_choice = unit[is_used], annotator[is_used], choice[is_used], model[unit[is_used]]
    agree_model = counts[at, model_choice] - (person_choice == model_choice)
    agree_person = counts[at, person_choice] - 1
    model_wins, person_wins = agree_model >= agree_person, agree_person >= agree_model
    tests, skipped = [], 0
    for name in np.unique(person):
        is_own = person == name
        if is_own.sum() < min_units:
            skipped += 1
            continue
        wins, losses = model_wins[is_own].astype(np.float64), person_wins[is_own].astype(np.float64)
        tests.append((int(name), int(is_own.sum()), wins.mean(), losses.mean(), advantage_p(losses - wins, epsilon)))
    rejected = benjamini_yekutieli([row[4] for row in tests])
    rows = tuple(
        Comparison(name, n, float(wins), float(losses), p, better)
        for (name, n, wins, losses, p), better in zip(tests, rejected, strict=True)
    )
    if not rows:
        return Replacement((), skipped, None, None)
    return Replacement(rows, skipped, sum(rejected) / len(rows), sum(row.model for row in rows) / len(rows))


def advantage_p(gaps: Floats, epsilon: float) -> float:
    """Compute the one-sided p of "the person's mean advantage is at least epsilon" from n gaps in -1, 0, 1.

    Without spread there is no t. If the advantage were epsilon or more, each gap would be 1 with probability epsilon
    at least, so n gaps without a 1 have at most the probability (1 - epsilon)^n.
    """
    n, centre = len(gaps), float(gaps.mean())
    error = float(gaps.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if error <= NOTHING:
        return (1.0 - epsilon) ** n if centre <= 0 else 1.0
    return float(scipy.special.stdtr(n - 1, (centre - epsilon) / error))


def benjamini_yekutieli(values: list[float], *, q: float = FALSE_DISCOVERIES) -> list[bool]:
    """Return which of m p-values are rejected with a false discovery rate of at most q, under any dependence.

    The k smallest are, for the largest k whose k-th p is at most k q / (m (1 + 1/2 + ... + 1/m)).
    E.g. .01, .02, .9 with q = .05: the limits are .0091, .0182, .0273, so none.
    """
    m = len(values)
    if not m:
        return []
    order = np.argsort(values, kind="stable")
    limits = q * np.arange(1, m + 1) / (m * (1.0 / np.arange(1, m + 1)).sum())
    below = np.flatnonzero(np.asarray(values)[order] <= limits)
    rejected = set(order[: below[-1] + 1].tolist()) if len(below) else set()
    return [index in rejected for index in range(m)]
