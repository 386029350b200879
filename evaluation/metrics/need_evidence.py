"""Weigh the evidence about what single items need (docs/reference/formulas.md#metric-needs). Pure.

Empirical Bayes: a nonparametric mixture over how much of an item is known at each level, fitted by EM (Laird 1978) over
the set, then per subtest with the set as its prior. Repeated looks count by their design effect (Kish 1965). Items are
supported as long as the expected share of wrong ones is small (Newton et al. 2004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.ladder import SHOWN_BY
from evaluation.metrics.needs import DRAWN, LEVELS, Floats, Key, NeedData, Readers, knowledge_of, readers

Bools = NDArray[np.bool_]
# With fewer independent looks on a level, nothing is said about single items.
MIN_LOOKS = 5.0
FALSE_SHARE = 0.05
# How much of an item is known on each level; more of the clip never takes away.
GRID = np.array([0.0, 1 / 3, 2 / 3, 1.0])
VECTORS = np.array(list(combinations_with_replacement(range(len(GRID)), len(LEVELS))))
# A known answer can be missed and an unknown one found: no look decides alone.
SLIP = 0.02
# Weight of the set in the prior of a subtest, in items; of a correlation of a half in an estimated one, in answers.
SHRINKAGE, PRIOR_WRONG = 10.0, 4.0
ITERATIONS = 100
# The lowest level that an item with this need is known on.
LOWEST = {"clip": 1, "frames": 2, "order": 3}


@dataclass(frozen=True)
class Evidence:
    """`p_need`: need -> (n,) probability that an item has it, for these models. `looks`: level -> effective looks."""

    p_need: Mapping[str, Floats]
    looks: Mapping[str, float]

    def looks_for(self, need: str) -> float:
        """Return the effective looks for a need or a higher one: what needs the order needs several frames, too."""
        return max(self._looks_below(higher) for higher in _at_least(need))

    def _looks_below(self, need: str) -> float:
        """Return the effective looks against a lesser need, at its weakest level; 0 if a level has no scores.

        What a level answers, the levels above it answer too, so that looks at all of them count.
        """
        below = [self.looks.get(level, 0.0) for level in LEVELS[: LOWEST[need]]]
        has_all = LEVELS[-1] in self.looks and all(below)
        return float(np.cumsum(below[::-1]).min()) if has_all else 0.0

    def is_enough(self, need: str) -> bool:
        """Report whether single items are named."""
        return self.looks_for(need) >= MIN_LOOKS

    def supported(self, need: str) -> Bools:
        """Return (n,) the most probable items, of which at most FALSE_SHARE is expected to be wrong; each is
        more probable than not. None without enough looks."""
        supported = np.zeros(len(self.p_need[need]), dtype=bool)
        for higher in _at_least(need):
            wrong = 1.0 - self.p_need[higher]
            order = np.argsort(wrong, kind="stable")
            expected = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
            fits = (expected <= FALSE_SHARE) & (wrong[order] < 0.5)
            supported[order[fits]] |= self._looks_below(higher) >= MIN_LOOKS
        return supported


def _at_least(need: str) -> list[str]:
    return [higher for higher, lowest in LOWEST.items() if lowest >= LOWEST[need]]


def evidence(data: NeedData, subtests: Sequence[str]) -> Evidence:
    """Return the evidence for each item; `subtests`: n names. Without a model above luck there are no looks."""
    of = knowledge_of(data)
    read = readers(data, of)
    likelihood = np.zeros((len(data.chance), len(LEVELS), len(GRID)))
    looks = {}
    for at, level in enumerate(LEVELS):
        columns = _columns(data, of, read, level)
        if columns:
            likelihood[:, at], looks[level] = _level(columns, data.chance)
    vectors = VECTORS
    if looks.get(LEVELS[-1], 0.0) < MIN_LOOKS:
        # Few looks cannot tell an item that is half known from one that is guessed: each miss then counts as a guess.
        vectors = VECTORS[np.isin(VECTORS[:, -1], (0, len(GRID) - 1))]
    joint = likelihood[:, np.arange(len(LEVELS)), vectors].sum(axis=2)
    density = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior = _posterior(density, subtests)
    known = GRID[vectors] > 0
    p_need = {need: posterior @ (known[:, -1] & ~known[:, :lowest].any(axis=1)) for need, lowest in LOWEST.items()}
    return Evidence(p_need, looks if read.leaders else {})


def _columns(data: NeedData, of: Mapping[Key, Floats], read: Readers, level: str) -> list[tuple[Floats, float]]:
    """Return (looks (n, m), ability) of each solver and rung that is read on a level. The best one has ability 1."""
    rungs = (*SHOWN_BY[level], DRAWN) if level == LEVELS[-1] else SHOWN_BY[level]
    keys = [key for key in of if key[1] in rungs and (key[0] in read.leaders or key in read.above_luck)]
    means = {key: max(0.0, float(np.nanmean(of[key]))) for key in keys}
    most = max(means.values(), default=0.0)
    return [
        (data.solvers[number].looks[rung], 1.0 if number in read.leaders else means[number, rung] / most)
        for number, rung in keys
    ]


def _level(columns: Sequence[tuple[Floats, float]], chance: Floats) -> tuple[Floats, float]:
    """Return the log likelihood of each amount known, (n, len(GRID)), and the number of effective looks."""
    credit = np.column_stack([looks for looks, _ability in columns])
    ability = np.concatenate([np.full(looks.shape[1], strength) for looks, strength in columns])
    effective = effective_looks(credit, float(chance.mean()))
    seen = ~np.isnan(credit)
    weight = effective / np.maximum(seen.sum(axis=1), 1.0)
    right = np.where(seen, credit, 0.0)
    wrong = np.where(seen, 1.0 - credit, 0.0)
    out = np.empty((len(chance), len(GRID)))
    for number, amount in enumerate(GRID):
        p = chance[:, None] + (1.0 - chance[:, None]) * ability * amount
        p = np.clip(p, SLIP, 1.0 - SLIP)
        out[:, number] = np.minimum(weight, 1.0) * (right * np.log(p) + wrong * np.log(1.0 - p)).sum(axis=1)
    return out, effective


def effective_looks(credit: Floats, chance: float) -> float:
    """Return how many independent looks `credit` (n, looks) is worth: m^2 / sum of their correlations (Kish 1965).

    The correlation of two looks follows from how often the second is wrong if the first is, which answers that are
    known do not change: (P(wrong again | wrong) - (1 - chance)) / chance. A half weighs like PRIOR_WRONG answers.
    """
    wrong = np.where(np.isnan(credit), 0.0, 1.0 - credit)
    seen = (~np.isnan(credit)).astype(float)
    both = wrong.T @ wrong
    either = (wrong.T @ seen + seen.T @ wrong) / 2.0
    prior = (1.0 - chance) + chance / 2.0
    again = (both + PRIOR_WRONG * prior) / (either + PRIOR_WRONG)
    correlation = np.clip((again - (1.0 - chance)) / chance, 0.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return float(len(correlation) ** 2 / correlation.sum())


def _posterior(density: Floats, subtests: Sequence[str]) -> Floats:
    names, index = np.unique(np.asarray(subtests, dtype=object).astype(str), return_inverse=True)
    overall = _fitted(density, np.full(density.shape[1], 1.0 / density.shape[1]), 0.0)
    out = np.empty_like(density)
    for number in range(len(names)):
        mine = index == number
        prior = overall if len(names) == 1 else _fitted(density[mine], overall, SHRINKAGE)
        weighted = density[mine] * prior
        out[mine] = weighted / weighted.sum(axis=1, keepdims=True)
    return out


def _fitted(density: Floats, start: Floats, strength: float) -> Floats:
    """Return the weights of the mixture by EM; `strength`: weight of `start` in items."""
    weights = start
    for _ in range(ITERATIONS):
        joint = density * weights
        total = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0)
        weights = (total + strength * start) / (len(density) + strength)
    return weights
