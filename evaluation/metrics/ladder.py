"""Take a score apart by how much of the clip it needs (docs/reference/formulas.md#metric-ladder).

A rung scores the same items with less of their clip (evaluation/metrics/rungs.py has the names).
Credits are shares in 0..1 per item, NaN without a score. Clusters are source videos.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.comparison import ALPHA, holm, paired_difference
from evaluation.metrics.intervals import DRAWS, mean, mean_intervals
from evaluation.metrics.rungs import RUNGS as KINDS
from evaluation.metrics.rungs import Rung

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

VERSION = "2"
NO_CLIP, OTHER_CLIP, FULL = Rung.NO_CLIP, Rung.OTHER_CLIP, Rung.FULL
FIRST_FRAME, MIDDLE_FRAME, BEST_FRAME = Rung.FIRST_FRAME, Rung.MIDDLE_FRAME, Rung.BEST_FRAME
SHUFFLED, REVERSED = Rung.SHUFFLED, Rung.REVERSED
RUNGS = tuple(Rung)
# What each rung adds to the one before it; the first one adds to chance.
WORDS, PICTURE, FRAMES, ORDER = "words", "picture", "frames", "order"
CHAIN = {NO_CLIP: WORDS, BEST_FRAME: PICTURE, SHUFFLED: FRAMES, FULL: ORDER}
# Outside of the sum: what another clip, reversed frames and others take away; negative if they add to the score.
DIAGNOSTICS = {kind.compared: rung for rung, kind in KINDS.items() if kind.compared}
# With fewer items, a sentence about a part would say more than the numbers do.
MIN_ITEMS = 20
NEEDS, NOTHING, COSTS, TOO_FEW = "needs", "nothing", "costs", "too_few"

SINGLE_FRAMES = (FIRST_FRAME, MIDDLE_FRAME, Rung.LAST_FRAME, BEST_FRAME)
# The rungs that show each level, from the least that a model sees.
SHOWN_BY = {
    WORDS: (NO_CLIP, Rung.GRAY_CLIP, OTHER_CLIP, Rung.SUBTEST_CLIP),
    PICTURE: SINGLE_FRAMES,
    FRAMES: (SHUFFLED,),
    ORDER: (FULL,),
}


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
    T - chance. `parts` of one entry join where the rungs between have no scores. `diagnostics` are not part of the sum.
    `p`: Holm over the parts, and over the diagnostics. Shares of items: evaluation/metrics/needs.py.
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
    others = {
        name: _gap(complete, complete.credit[FULL], complete.credit[rung], draws)
        for name, rung in DIAGNOSTICS.items()
        if rung in complete.credit
    }
    return {
        **plain,
        "chance": mean(complete.chance),
        "rungs": _rungs(complete, draws),
        "parts": _steps(complete, draws),
        "diagnostics": dict(zip(others, _corrected([others[name] for name in others], n), strict=True)),
    }


def _rungs(data: LadderScores, draws: int) -> dict[str, dict[str, Any]]:
    names = [rung for rung in RUNGS if rung in data.credit]
    values = np.column_stack([data.credit[rung] for rung in names])
    intervals = mean_intervals(values, data.clusters, draws=draws)
    rows: dict[str, dict[str, Any]] = {}
    for rung, interval in zip(names, intervals, strict=True):
        row: dict[str, Any] = {"T": mean(data.credit[rung]), "ci": interval, "drop": None, "drop_ci": None}
        if rung != FULL:
            gap = paired_difference(data.credit[FULL], data.credit[rung], data.clusters, draws=draws)
            row |= {"drop": gap.value, "drop_ci": gap.ci}
        rows[str(rung)] = row
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
    return _corrected(steps, len(data.chance))


def _gap(data: LadderScores, high: Floats, low: Floats, draws: int) -> dict[str, Any]:
    gap = paired_difference(high, low, data.clusters, draws=draws)
    return {"value": gap.value, "ci": gap.ci, "p": gap.p}


def _corrected(rows: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Return rows with their p by Holm over all of them, and `say`: which sentence the numbers support."""
    p_values = holm([1.0 if row["p"] is None else row["p"] for row in rows])
    return [
        {**row, "p": row["p"] and p, "say": said(None if row["ci"] is None else row["value"], p, n)}
        for row, p in zip(rows, p_values, strict=True)
    ]


def said(value: float | None, p: float, n: int) -> str:
    """Return which sentence a part supports. `p`: corrected for the number of parts; `value` None: no interval."""
    if value is None or n < MIN_ITEMS:
        return TOO_FEW
    if p >= ALPHA:
        return NOTHING
    return NEEDS if value > 0 else COSTS
