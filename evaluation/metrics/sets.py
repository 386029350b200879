"""Compute scores of sets of answers that count together, such as pairs, instances and groups of Video-MME-v2.

docs/reference/formulas.md#metric-sets
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float64]

VERSION = "1"
INPUT = "sets"
CONSISTENCY = "consistency"
# Score after so many links of a chain without an error (Video-MME-v2, cal_logic). Links in brackets are parallel.
CHAINS = {
    "[1,2,3,4]": (0.0, 1 / 16, 4 / 16, 9 / 16, 1.0),
    "[1,[2,3],4]": (0.0, 1 / 12, 4 / 12, 7 / 12, 1.0),
    "[[1,2],3,4]": (0.0, 1 / 10, 2 / 10, 5 / 10, 1.0),
}
# The place of the first parallel link: the second one alone counts as one link, too.
PARALLEL = {"[1,[2,3],4]": 1, "[[1,2],3,4]": 0}
STRUCTURES = (CONSISTENCY, *CHAINS)
CHAIN_LENGTH = 4
PARTS = ("text", "video")
# Values over answers, questions on all clips, clips with all questions, parts of a set, and whole sets.
VALUES = ("accuracy", "question", "clip", *PARTS, "group", "score", CONSISTENCY, "first_error")
# Column of a leaderboard -> value. They do not rank models: T ranks the single answers.
OF_SETS = {
    "Same question": "question",
    "Same clip": "clip",
    "Set, text": "text",
    "Set, video": "video",
    "Whole set": "group",
    "Set score": "score",
    "Consistency": CONSISTENCY,
    "First error": "first_error",
}
BESIDE = ("chance", "luck")


@dataclass(frozen=True)
class SetAnswers:
    """n answers of one model. `right`: (n,) 1 right, 0 wrong, NaN unreadable; `chance`: (n,) of a guess.

    `sets` names the set of each answer; `clips`, `questions`, `parts` and `structures` are "" if they do not count.
    The answers of a chain are in its order. `clusters`: of whole sets.
    """

    ids: Sequence[str]
    right: Floats
    sets: Sequence[str]
    clips: Sequence[str]
    questions: Sequence[str]
    parts: Sequence[str]
    structures: Sequence[str]
    chance: Floats
    subtests: Sequence[str]
    clusters: Sequence[str]


@dataclass(frozen=True)
class _Unit:
    """Answers (k,) that count together. `structure`: "" if all of them must be right."""

    answers: tuple[int, ...]
    structure: str = ""


def compute(data: SetAnswers, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute each value in 0..1 with its interval, overall and per subtest. Unreadable answers count as wrong, as in
    the published code; `if_unread_right` has the values if all of them are right.

    `chance`: of independent guesses. `luck`: of a model with this accuracy whose right answers are independent of each
    other. If a value is not above it, sets show no more than single answers. EvaluationError: no answer, or a set with
    a structure does not have four answers.
    """
    if not len(data.ids):
        raise EvaluationError("there are no answers; give at least one record")
    members = _positions(data.sets, range(len(data.ids)))
    for name, answers in members.items():
        structure = data.structures[answers[0]]
        if len({data.structures[at] for at in answers}) > 1 or (structure and len(answers) != CHAIN_LENGTH):
            raise EvaluationError(
                f"set {quoted(name)} has {len(answers)} answers; give its {CHAIN_LENGTH} answers, with one structure"
            )
    subtests = np.array(data.subtests, dtype=object)
    everything = np.ones(len(data.ids), dtype=bool)
    return {
        "overall": _group(data, everything, draws, seed),
        "subtests": {name: _group(data, subtests == name, draws, seed) for name in dict.fromkeys(data.subtests)},
    }


def _group(data: SetAnswers, selected: NDArray[np.bool_], draws: int, seed: int) -> dict[str, Any]:
    at = [int(index) for index in np.flatnonzero(selected)]
    low, high = (np.nan_to_num(data.right, nan=value) for value in (0.0, 1.0))
    n_unread = int(np.isnan(data.right[at]).sum())
    accuracy = mean(low[at])
    group: dict[str, Any] = {"n": len(at), "n_sets": len({data.sets[index] for index in at})}
    chance, luck, bounds = {}, {}, {}
    for name, units in _units(data, at).items():
        values = _earned(units, low)
        clusters = [data.clusters[unit.answers[0]] for unit in units]
        (interval,) = mean_intervals(values[:, None], clusters, draws=draws, seed=seed)
        group |= {name: mean(values), f"{name}_ci": interval}
        chance[name] = mean(np.array([_expected(unit, data.chance) for unit in units]))
        luck[name] = mean(np.array([_expected(unit, np.full(len(low), accuracy)) for unit in units]))
        bounds[name] = mean(_earned(units, high))
    unread = {"n_unread": n_unread, "if_unread_right": bounds} if n_unread else {}
    return {**group, "chance": chance, "luck": luck, **unread}


def _units(data: SetAnswers, at: Sequence[int]) -> dict[str, list[_Unit]]:
    """Return the units of each value that the records support."""
    sets = _positions(data.sets, at)
    units = {"accuracy": [_Unit((index,)) for index in at], "group": [_Unit(answers) for answers in sets.values()]}
    for name, labels in (("question", data.questions), ("clip", data.clips)):
        if all(labels[index] for index in at):
            keys = [f"{set_name}\0{label}" for set_name, label in zip(data.sets, labels, strict=True)]
            units[name] = [_Unit(answers) for answers in _positions(keys, at).values()]
    for part in PARTS:
        if of_part := [index for index in at if data.parts[index] == part]:
            units[part] = [_Unit(answers) for answers in _positions(data.sets, of_part).values()]
    if all(data.structures[index] for index in at):
        scored = [_Unit(answers, data.structures[answers[0]]) for answers in sets.values()]
        kinds = {
            "score": scored,
            CONSISTENCY: [unit for unit in scored if unit.structure == CONSISTENCY],
            "first_error": [unit for unit in scored if unit.structure != CONSISTENCY],
        }
        units |= {name: of_kind for name, of_kind in kinds.items() if of_kind}
    return {name: units[name] for name in VALUES if name in units}


def _positions(labels: Sequence[str], at: Sequence[int]) -> dict[str, tuple[int, ...]]:
    positions: dict[str, list[int]] = {}
    for index in at:
        positions.setdefault(labels[index], []).append(index)
    return {name: tuple(indices) for name, indices in positions.items()}


def _earned(units: Sequence[_Unit], right: Floats) -> Floats:
    return np.array([set_score([bool(right[index]) for index in unit.answers], unit.structure) for unit in units])


def set_score(right: Sequence[bool], structure: str = "") -> float:
    """Return the score of a set in 0..1: 1 if all answers are right, or that of a structure of Video-MME-v2.

    `consistency`: the squared share of right answers. A chain: the score of the links before the first error.
    """
    if not structure:
        return float(all(right))
    if structure == CONSISTENCY:
        return (sum(right) / len(right)) ** 2
    links = next((number for number, is_right in enumerate(right) if not is_right), len(right))
    if links == PARALLEL.get(structure) and right[links + 1]:
        links += 1
    return CHAINS[structure][links]


def _expected(unit: _Unit, probabilities: Floats) -> float:
    """Return the expected score if the answers are right independently of each other."""
    chances = [float(probabilities[index]) for index in unit.answers]
    if not unit.structure:
        return prod(chances)
    return sum(
        set_score(outcome, unit.structure)
        * prod(chance if is_right else 1 - chance for chance, is_right in zip(chances, outcome, strict=True))
        for outcome in product((True, False), repeat=len(chances))
    )
