"""Take a score apart by how much of the clip it needs (docs/reference/formulas.md#metric-ladder).

A rung scores the same items with less of their clip (evaluation/scoring/rungs.py has the names; a test compares them).
Credits are shares in 0..1 per item, NaN without a score. Clusters are source videos.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.comparison import paired_difference
from evaluation.metrics.intervals import DRAWS, mean, mean_intervals

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

VERSION = "1"
NO_CLIP, OTHER_CLIP, FULL = "no_clip", "other_clip", "full"
FIRST_FRAME, MIDDLE_FRAME, BEST_FRAME = "first_frame", "middle_frame", "best_frame"
SHUFFLED, REVERSED = "shuffled", "reversed"
RUNGS = (NO_CLIP, OTHER_CLIP, FIRST_FRAME, MIDDLE_FRAME, BEST_FRAME, SHUFFLED, REVERSED, FULL)
# What each rung adds to the one before it; the first one adds to chance.
WORDS, PICTURE, FRAMES, ORDER = "words", "picture", "frames", "order"
CHAIN = {NO_CLIP: WORDS, BEST_FRAME: PICTURE, SHUFFLED: FRAMES, FULL: ORDER}
# Outside of the sum: what another clip, and reversed frames, take away.
DIAGNOSTICS = {"own_clip": OTHER_CLIP, "reversal": REVERSED}
# With fewer items, a sentence about a part would say more than the numbers do.
MIN_ITEMS = 20
NEEDS, NOTHING, COSTS, TOO_FEW = "needs", "nothing", "costs", "too_few"

# What an item needs, by the first rung at which it is solved: a level contains all that is below it.
UNKNOWN, UNSOLVED, BY_WORDS, BY_PICTURE, BY_FRAMES, BY_ORDER = -1, 0, 1, 2, 3, 4
LEVELS = {"unsolved": UNSOLVED, WORDS: BY_WORDS, PICTURE: BY_PICTURE, FRAMES: BY_FRAMES, ORDER: BY_ORDER}
# The level from which an item needs this, and the rungs that must be scored to know.
QUALIFIES = {"clip": BY_PICTURE, "frames": BY_FRAMES, "order": BY_ORDER}
REQUIRED = {
    "clip": (FULL, NO_CLIP),
    "frames": (FULL, NO_CLIP, BEST_FRAME),
    "order": (FULL, NO_CLIP, BEST_FRAME, SHUFFLED),
}
SINGLE_FRAMES = (FIRST_FRAME, MIDDLE_FRAME, BEST_FRAME)
# The rungs that show each level, from the least that a model sees.
SHOWN_BY = {WORDS: (NO_CLIP, OTHER_CLIP), PICTURE: SINGLE_FRAMES, FRAMES: (SHUFFLED,), ORDER: (FULL,)}


@dataclass(frozen=True)
class LadderScores:
    """`credit`: rung -> (n,) of one model; `chance` (n,) of each item; `clusters` n names."""

    credit: Mapping[str, Floats]
    chance: Floats
    clusters: Sequence[str]

    def only(self, selected: Bools) -> "LadderScores":
        credit = {rung: values[selected] for rung, values in self.credit.items()}
        names = [name for name, is_selected in zip(self.clusters, selected, strict=True) if is_selected]
        return LadderScores(credit, self.chance[selected], names)


def compute(data: LadderScores, *, draws: int = DRAWS) -> dict[str, Any]:
    """Compute T at every rung and the parts of T, over the items that all rungs scored.

    `rungs`: T with its interval, and `drop`: full - rung. `parts`: what each rung of the chain adds; they sum to
    T - chance. `parts` of one entry join where the rungs between have no scores. `share`: corrected for guessing, the
    mean of gap / (1 - chance): the share of items whose answer needs it. `diagnostics` are outside of the sum.
    """
    n_all = len(data.chance)
    scored = np.ones(n_all, dtype=bool)
    for values in data.credit.values():
        scored &= ~np.isnan(values)
    complete = data.only(scored)
    n = len(complete.chance)
    plain = {"n": n, "n_left_out": n_all - n, "n_clusters": len(set(complete.clusters)), "too_few": n < MIN_ITEMS}
    if not n or FULL not in complete.credit:
        return {**plain, "chance": None, "rungs": {}, "parts": [], "diagnostics": {}}
    return {
        **plain,
        "chance": mean(complete.chance),
        "rungs": _rungs(complete, draws),
        "parts": _steps(complete, draws),
        "diagnostics": {
            name: _gap(complete, complete.credit[FULL], complete.credit[rung], draws)
            for name, rung in DIAGNOSTICS.items()
            if rung in complete.credit
        },
    }


def _rungs(data: LadderScores, draws: int) -> dict[str, dict[str, Any]]:
    names = [rung for rung in RUNGS if rung in data.credit]
    values = np.column_stack([data.credit[rung] for rung in names])
    intervals = mean_intervals(values, data.clusters, draws=draws)
    rows = {}
    for rung, interval in zip(names, intervals, strict=True):
        row: dict[str, Any] = {"T": mean(data.credit[rung]), "ci": interval, "drop": None, "drop_ci": None}
        if rung != FULL:
            gap = paired_difference(data.credit[FULL], data.credit[rung], data.clusters, draws=draws)
            row |= {"drop": gap.value, "drop_ci": gap.ci}
        rows[rung] = row
    return rows


def _steps(data: LadderScores, draws: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    low, below, components = "", data.chance, []
    for rung, component in CHAIN.items():
        components.append(component)
        if rung in data.credit:
            gap = _gap(data, data.credit[rung], below, draws)
            steps.append({"parts": components, "low": low, "high": rung, **gap})
            low, below, components = rung, data.credit[rung], []
    return steps


def _gap(data: LadderScores, high: Floats, low: Floats, draws: int) -> dict[str, Any]:
    """Compare two rungs in points of T and corrected for guessing; `say`: which sentence the numbers support."""
    gap = paired_difference(high, low, data.clusters, draws=draws)
    room = 1.0 - data.chance
    reach = float(1.0 / room.min())
    corrected = paired_difference(high / room, low / room, data.clusters, bounds=(-reach, reach), draws=draws)
    return {
        "value": gap.value,
        "ci": gap.ci,
        "p": gap.p,
        "share": corrected.value,
        "share_ci": corrected.ci,
        "say": said(gap.ci, gap.n),
    }


def said(interval: Sequence[float] | None, n: int) -> str:
    """Return which sentence an interval of a part supports."""
    if interval is None or n < MIN_ITEMS:
        return TOO_FEW
    if interval[0] > 0:
        return NEEDS
    return COSTS if interval[1] < 0 else NOTHING


def levels_of(models: Sequence[Mapping[str, Floats]]) -> NDArray[np.int64]:
    """Return (n,) what each item needs, from each model's {rung: credit (n,)}.

    An item is solved at a rung if any model has full credit there: a tie does not solve it. It needs words if one
    solves it without the clip or with another clip; a picture if one solves it with a single frame; frames if one
    solves it with shuffled frames; else the order. `UNKNOWN`: a model has no score at one of its rungs.
    """
    n = len(models[0][FULL])
    unknown = np.zeros(n, dtype=bool)
    for model in models:
        for credit in model.values():
            unknown |= np.isnan(credit)
    levels = np.full(n, UNSOLVED, dtype=np.int64)
    # From the most that a model sees to the least: the least that solves an item counts.
    levels[_solved(models, (FULL,), n)] = BY_ORDER
    for name in (FRAMES, PICTURE, WORDS):
        levels[(levels > UNSOLVED) & _solved(models, SHOWN_BY[name], n)] = LEVELS[name]
    return np.where(unknown, UNKNOWN, levels)


def scored_levels(models: Sequence[Mapping[str, Floats]]) -> list[str]:
    """Return the levels whose rungs a model scored, from the least that a model sees.

    Without scores for a level, no item is known to need more than that level.
    """
    scored = {rung for model in models for rung in model}
    return [name for name, rungs in SHOWN_BY.items() if scored & set(rungs)]


def _solved(models: Sequence[Mapping[str, Floats]], rungs: Sequence[str], n: int) -> Bools:
    solved = np.zeros(n, dtype=bool)
    for model in models:
        for rung in rungs:
            if rung in model:
                solved |= model[rung] >= 1.0
    return solved


def luck(chance: Floats, models: int) -> Floats:
    """Compute the chance that at least one of several models solves an item by guessing alone, (n,).

    1 - (1 - chance)^models, if their guesses are independent. E.g. three models and two texts: .875.
    """
    return 1.0 - (1.0 - chance) ** models


def lucky(chance: Floats, models: int) -> Floats:
    """Compute the highest chance that an item that all models guess seems to need its clip, (n,).

    One is right with the full clip and none is right without: luck * (1 - luck). More rungs lower it.
    """
    by_luck = luck(chance, models)
    return by_luck * (1.0 - by_luck)


def of_models(
    models: Sequence[Mapping[str, Floats]], chance: Floats, clusters: Sequence[str], *, draws: int = DRAWS
) -> dict[str, Any]:
    """Compute the share of items that some model solves at each rung of the chain, beside what luck would give.

    Over the items that every model scored at every rung of the chain that they all have.
    """
    shared = [rung for rung in CHAIN if all(rung in model for model in models)]
    is_scored = np.ones(len(chance), dtype=bool)
    for model in models:
        for rung in shared:
            is_scored &= ~np.isnan(model[rung])
    names = [name for name, scored in zip(clusters, is_scored, strict=True) if scored]
    n = int(is_scored.sum())
    plain = {"n": n, "n_models": len(models), "n_clusters": len(set(names)), "too_few": n < MIN_ITEMS}
    if not n:
        return {**plain, "luck": None, "rungs": {}}
    solved = np.column_stack([_solved(models, (rung,), len(chance))[is_scored].astype(np.float64) for rung in shared])
    intervals = mean_intervals(solved, names, draws=draws)
    rows = zip(shared, solved.T, intervals, strict=True)
    return {
        **plain,
        "luck": mean(luck(chance[is_scored], len(models))),
        "rungs": {rung: {"share": mean(column), "ci": interval} for rung, column, interval in rows},
    }
