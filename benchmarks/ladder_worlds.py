"""Make up benchmarks and models of known needs, without looking at how the evidence ladder reads them.

Answers come from utilities with shared and private errors, not from "knows or guesses". Each project draws some of
these difficulties: errors that models share, a preferred position, refusals, margins on other scales, models that fall
on gray or shuffled frames, one rung below the one beneath it, and solvers between luck and certainty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The lowest rung at which an item can be answered: 0 the texts, 1 one frame, 2 several frames, 3 their order.
RUNGS = ("words", "picture", "frames", "order")
NO_NEED = 4


@dataclass(frozen=True)
class World:
    """`credit`: {model: {rung: (items, looks)}}, NaN without an answer. `text_only`: models that never see a clip.

    `need` (items,): 0..3, or NO_NEED if no model can answer. `control`: {rung: (items, looks)} of the best model on
    items that by design need no order; empty without any. `traits`: the difficulties drawn.
    """

    credit: Mapping[str, Mapping[str, Floats]]
    text_only: frozenset[str]
    chance: Floats
    clusters: list[str]
    subtests: list[str]
    need: NDArray[np.int64]
    control: Mapping[str, Floats] = field(default_factory=dict)
    control_chance: Floats = field(default_factory=lambda: np.empty(0))
    traits: frozenset[str] = frozenset()


TRAITS = ("shared_errors", "position_bias", "refusals", "scales", "falls", "non_monotone", "weak")


def make_world(seed: int, *, needs_nothing: bool = False, looks: int | None = None) -> World:
    """Return a project. `needs_nothing`: every model guesses on every rung."""
    random = np.random.default_rng([312, seed])
    traits = frozenset(trait for trait in TRAITS if random.random() < 0.4)
    n = int(random.integers(80, 401))
    n_texts = np.full(n, random.choice([2, 2, 2, 3, 4, 5]))
    shares = random.dirichlet(np.full(4, 0.6))
    need = random.choice(4, size=n, p=shares)
    need[random.random(n) < random.choice([0.0, 0.0, 0.1])] = NO_NEED
    if needs_nothing:
        need[:] = NO_NEED
    clusters = [f"v{at}" for at in np.sort(random.integers(0, max(20, int(n / random.choice([1, 1, 2, 3]))), n))]
    n_looks = looks or int(random.choice([1, 1, 3, 6]))
    shared = random.normal(size=(n, 5)) * (random.uniform(0.4, 1.0) if "shared_errors" in traits else 0.0)
    right_at = random.integers(0, n_texts)
    credit: dict[str, dict[str, Floats]] = {}
    skills = _skills(random, traits)
    for number, skill in enumerate(skills):
        credit[f"model {number}"] = {
            rung: _looks(random, traits, need, n_texts, right_at, shared, skill, at, n_looks)
            for at, rung in enumerate(RUNGS)
        }
    text_only = frozenset[str]()
    if random.random() < 0.4:
        skill = _Skill(random.uniform(1.5, 4.0), 0.0, 1.0, 0.0, 0.0, frozenset())
        credit["texts"] = {"words": _looks(random, frozenset(), need, n_texts, right_at, shared, skill, 0, 1)}
        text_only = frozenset(["texts"])
    control: dict[str, Floats] = {}
    n_control = 150 if "falls" in traits and random.random() < 0.5 else 0
    if n_control:
        kind = random.integers(0, 3, n_control)
        texts = np.full(n_control, n_texts[0])
        args = (texts, random.integers(0, texts), np.zeros((n_control, 5)), skills[0])
        control = {rung: _looks(random, traits, kind, *args, at, n_looks) for at, rung in enumerate(RUNGS) if at >= 2}
    subtests = [f"s{at}" for at in random.integers(0, random.choice([1, 2, 3]), n)]
    chance = 1.0 / n_texts
    return World(credit, text_only, chance, clusters, subtests, need, control, np.full(n_control, chance[0]), traits)


@dataclass(frozen=True)
class _Skill:
    """`signal`: of the right text over the others, in units of the noise; `bias`: of the first position; `scale` of the
    scores; `fall_gray`, `fall_shuffled`: the share of the signal lost there; `low`: rungs with half of it."""

    signal: float
    bias: float
    scale: float
    fall_gray: float
    fall_shuffled: float
    low: frozenset[int]
    refuses: float = 0.0


def _skills(random: np.random.Generator, traits: frozenset[str]) -> list[_Skill]:
    low = frozenset([int(random.integers(1, 3))]) if "non_monotone" in traits else frozenset[int]()
    skills = []
    for number in range(int(random.integers(1, 5))):
        strong = random.uniform(4.0, 6.0)
        weak = random.uniform(1.2, 2.5)
        signal = weak if "weak" in traits and random.random() < 0.7 else strong
        if number and random.random() < 0.3:
            signal = 0.0
        skills.append(
            _Skill(
                signal,
                random.uniform(0.5, 1.5) if "position_bias" in traits else 0.0,
                float(np.exp(random.normal() * 3)) if "scales" in traits else 1.0,
                random.uniform(0.1, 0.4) if "falls" in traits else 0.0,
                random.uniform(0.1, 0.4) if "falls" in traits else 0.0,
                low,
                random.uniform(0.2, 0.7) if "refusals" in traits else 0.0,
            )
        )
    return skills


def _looks(
    random: np.random.Generator,
    traits: frozenset[str],
    need: NDArray[np.int64],
    n_texts: NDArray[np.int64],
    right_at: NDArray[np.int64],
    shared: Floats,
    skill: _Skill,
    rung: int,
    looks: int,
) -> Floats:
    """Return the credit of each look, (items, looks). Every second look turns the order of the texts around."""
    n, most = len(need), int(n_texts.max())
    signal = np.where(need <= rung, skill.signal, 0.0)
    signal = signal * (1 - skill.fall_gray * (rung == 0)) * (1 - skill.fall_shuffled * (rung == 2))
    signal = signal * (0.4 if rung in skill.low else 1.0)
    private = random.normal(size=(n, most)) * 0.5
    out = np.empty((n, looks))
    for look in range(looks):
        values = private + shared[:, :most] + random.normal(size=(n, most)) * 0.8
        values[np.arange(n), right_at] += signal
        first = 0 if look % 2 == 0 else most - 1
        values[:, first] += skill.bias
        values = values * skill.scale
        out[:, look] = values.argmax(axis=1) == right_at
        if skill.refuses:
            refuses = random.random(n) < skill.refuses * (1.0 if rung == 0 else 0.1)
            # Half of the harnesses count a refusal as wrong, the others leave it out.
            out[refuses, look] = 0.0 if "scales" in traits else np.nan
    return out
