"""Estimate what the items of a benchmark need, with luck taken out (docs/reference/formulas.md#metric-needs). Pure.

Shares of the set come from means corrected for guessing, so that errors which models share do not bias them. Evidence
about single items is in evaluation/metrics/need_evidence.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.metrics.comparison import ALPHA, holm
from evaluation.metrics.intervals import SHARES, cluster_sums
from evaluation.metrics.ladder import CHAIN, FULL, MIN_ITEMS, ORDER, SHOWN_BY, SHUFFLED

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Key = tuple[int, str]
VERSION = "1"
# The full clip with its frames drawn again, in order: it shows how sure an answer is.
DRAWN = "drawn"
LEVELS = tuple(CHAIN.values())
RUNG_OF = {level: rung for rung, level in CHAIN.items()}
DRAWS, SEED = 4_000, 0
# A level shows frames that no model was trained on: it can hide up to this share of what is known on it.
STRANGENESS = 0.2
FALLS = 0.05


@dataclass(frozen=True)
class Solver:
    """`looks`: rung -> (n, looks) credit in 0..1, NaN without a score.

    `is_model`: it sees clips; others (texts alone, people without the clip) only count against a need.
    """

    name: str
    looks: Mapping[str, Floats]
    is_model: bool = True


@dataclass(frozen=True)
class NeedData:
    """`chance` (n,), n `clusters`. `control`: solver number -> {rung: (m, looks)} for the shuffled and the full clip,
    on m items that need no order by design; `control_chance` (m,)."""

    solvers: Sequence[Solver]
    chance: Floats
    clusters: Sequence[str]
    control: Mapping[int, Mapping[str, Floats]] = field(default_factory=dict)
    control_chance: Floats = field(default_factory=lambda: np.empty(0))

    def only(self, selected: Bools) -> "NeedData":
        solvers = [
            Solver(solver.name, {rung: looks[selected] for rung, looks in solver.looks.items()}, solver.is_model)
            for solver in self.solvers
        ]
        names = [name for name, is_selected in zip(self.clusters, selected, strict=True) if is_selected]
        return NeedData(solvers, self.chance[selected], names, self.control, self.control_chance)


@dataclass(frozen=True)
class Readers:
    """The models that are read. `leaders`: those with the best score of the full clip, above luck; [] if none is above.

    `above_luck`: (solver, rung) pairs, Holm over the solvers. `raised`: level -> the pair that answers more on it than
    the leaders. `p`: level -> the p of (solver, rung) pairs that are above luck there, corrected for their number.
    """

    leaders: Sequence[int]
    above_luck: frozenset[Key]
    raised: Mapping[str, Key]
    p_luck: Mapping[str, float]


def knowledge(looks: Floats, chance: Floats) -> Floats:
    """Return (n,) the credit above luck over the room above luck, mean over looks: 1 if always right."""
    counted = (~np.isnan(looks)).sum(axis=1)
    credit = np.where(counted, np.nansum(looks, axis=1) / np.maximum(counted, 1), np.nan)
    return np.asarray((credit - chance) / (1.0 - chance))


def knowledge_of(data: NeedData) -> dict[Key, Floats]:
    return {
        (number, rung): knowledge(looks, data.chance)
        for number, solver in enumerate(data.solvers)
        for rung, looks in solver.looks.items()
    }


def covariance(values: Floats, clusters: Sequence[str], room: float) -> tuple[Floats, int]:
    """Return the cluster-robust covariance (m, m) of the means of `values` (n, m), and the number of clusters.

    One cluster can always differ, so that a column without spread has an error of 1 / (room * clusters) at least.
    """
    rows = cluster_sums(values - values.mean(axis=0), clusters)
    count = len(rows)
    spread = rows.T @ rows * count / (max(1, count - 1) * len(values) ** 2)
    smallest = (1.0 / (room * count)) ** 2
    return spread + np.diag(np.maximum(0.0, smallest - np.diag(spread))), count


def p_above(values: Floats, clusters: Sequence[str], room: float) -> float:
    """Return the one-sided p of "the mean is not above 0", by the cluster t test; 1 for too few values."""
    scored = ~np.isnan(values)
    if scored.sum() < MIN_ITEMS:
        return 1.0
    names = [name for name, is_scored in zip(clusters, scored, strict=True) if is_scored]
    variance, count = covariance(values[scored][:, None], names, room)
    return float(scipy.special.stdtr(max(1, count - 1), -values[scored].mean() / np.sqrt(variance[0, 0])))


def readers(data: NeedData, of: Mapping[Key, Floats]) -> Readers:
    """Decide which solvers are read. A model at luck with the full clip shows no need; any solver can deny one."""
    room = float(1.0 - data.chance.mean())

    def p_of(values: Floats) -> float:
        return p_above(values, data.clusters, room)

    full = [key for key in of if key[1] == FULL and data.solvers[key[0]].is_model]
    lower = [key for key in of if any(key[1] in SHOWN_BY[level] for level in LEVELS[:-1])]
    p_full, p_lower = (dict(zip(keys, holm([p_of(of[key]) for key in keys]), strict=True)) for keys in (full, lower))
    able = [key for key in full if p_full[key] < ALPHA]
    best = max(able, key=lambda key: float(np.nanmean(of[key])), default=None)
    leaders = [key[0] for key in able if key == best or p_of(of[best] - of[key]) >= ALPHA] if best else []
    above = [key for key in lower if p_lower[key] < ALPHA]
    raised = {}
    for level in LEVELS[:-1]:
        base = mean_of(of, leaders, RUNG_OF[level], len(data.chance))
        better = [
            key
            for key in above
            if key[1] in SHOWN_BY[level] and p_of(of[key] - np.nan_to_num(base)) * len(lower) < ALPHA
        ]
        if better:
            raised[level] = max(better, key=lambda key: float(np.nanmean(of[key])))
    p_luck = {
        level: min((p for key, p in (p_lower | p_full).items() if key[1] in SHOWN_BY[level]), default=1.0)
        for level in LEVELS
    }
    return Readers(leaders, frozenset([*above, *able]), raised, p_luck)


def mean_of(of: Mapping[Key, Floats], solvers: Sequence[int], rung: str, n: int) -> Floats:
    """Return the mean knowledge of several solvers on a rung, (n,); NaN without a score."""
    values = [of[number, rung] for number in solvers if (number, rung) in of]
    return knowledge(np.column_stack(values), np.zeros(n)) if values else np.full(n, np.nan)


def level_means(data: NeedData, of: Mapping[Key, Floats], read: Readers) -> dict[str, Floats]:
    """Return level -> (n,) knowledge there, of the levels with scores: of the leaders, or of a solver that has more."""
    means = {}
    for level, rung in RUNG_OF.items():
        values = mean_of(of, read.leaders, rung, len(data.chance))
        if level in read.raised:
            better = of[read.raised[level]]
            values = np.where(np.isnan(better), values, better)
        if not np.isnan(values).all():
            means[level] = values
    return means


def shares(data: NeedData, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Estimate the share of the items that needs each level: words, one frame, several frames, the order of frames.

    `parts`: one row per level with scores; a row names the levels below it without scores, too. `share`: of what the
    leaders solve with the full clip, all parts sum to 1. `ci`: 95 %, from "no unsolved item needs it" to "all do", plus
    the error over source videos, within 0 and 1. `p`: that the level adds nothing to luck and to every level below,
    Holm over the parts. `solved`: the share that is solved above luck. `at_most`: the order has no control, so what
    strange orders cost counts as order. `not_monotone`: levels significantly below one beneath them.
    """
    of = knowledge_of(data)
    read = readers(data, of)
    means = level_means(data, of, read)
    room, n_all = float(1.0 - data.chance.mean()), len(data.chance)
    columns = np.column_stack(list(means.values())) if means else np.full((n_all, 1), np.nan)
    scored = ~np.isnan(columns).any(axis=1)
    plain = {
        "n": int(scored.sum()),
        "n_clusters": len({name for name, is_scored in zip(data.clusters, scored, strict=True) if is_scored}),
        "leaders": [data.solvers[number].name for number in read.leaders],
        "guessers": [
            solver.name
            for number, solver in enumerate(data.solvers)
            if solver.is_model and (number, FULL) in of and (number, FULL) not in read.above_luck
        ],
        "against": {
            level: {"solver": data.solvers[number].name, "rung": rung} for level, (number, rung) in read.raised.items()
        },
    }
    if scored.sum() < MIN_ITEMS or not read.leaders or len(means) < 2:
        return {**plain, "parts": [], "solved": None, "solved_ci": None, "at_most": True, "not_monotone": []}
    names = [name for name, is_scored in zip(data.clusters, scored, strict=True) if is_scored]
    control = _cost_of_shuffling(data, read.leaders)
    cost = np.zeros(2) if control is None else control
    values = dict(zip(means, columns[scored].T, strict=True))
    return {**plain, **_parts(values, names, room, read.p_luck, cost, draws, seed), "at_most": control is None}


def _parts(
    means: Mapping[str, Floats],
    names: Sequence[str],
    room: float,
    p_luck: Mapping[str, float],
    cost: Floats,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    levels, values = list(means), np.column_stack(list(means.values()))
    spread, count = covariance(values, names, room)
    drawn = _drawn(values.mean(axis=0), spread, count, draws, seed)
    adds, solved = _additions(values.mean(axis=0)[None], levels, cost[:1])
    falling = _falling(values, names, room, levels)
    lowest, highest = _bounds(drawn, levels, np.resize(cost[1:], draws), falling)
    p_values = holm([_p_of(values, names, room, at, p_luck[level]) for at, level in enumerate(levels)])
    parts, below = [], 0
    for at, level in enumerate(levels):
        reach = LEVELS.index(level) + 1
        share = float(adds[0, at] / solved[0]) if solved[0] > 0 else 0.0
        ends = np.clip([np.quantile(lowest[:, at], 0.025), np.quantile(highest[:, at], 0.975)], *SHARES)
        interval = [min(float(ends[0]), share), max(float(ends[1]), share)]
        row = {"share": share, "ci": interval, "p": p_values[at], "shown": p_values[at] < ALPHA}
        parts.append({"parts": list(LEVELS[below:reach]), **row})
        below = reach
    drawn_solved = np.quantile(_additions(drawn, levels, np.zeros(1))[1], (0.025, 0.975)).tolist()
    return {"parts": parts, "solved": float(solved[0]), "solved_ci": drawn_solved, "not_monotone": falling}


def _additions(means: Floats, levels: Sequence[str], cost: Floats) -> tuple[Floats, Floats]:
    """Return what each level adds to those below, (draws, m), and what is solved, (draws,). A level never takes away.

    `cost`: what shuffling alone costs; it is no order, and so belongs to the frames.
    """
    raised = means.copy()
    if ORDER in levels and levels[-2:] != [ORDER]:
        at = levels.index(ORDER) - 1
        raised[:, at] = np.maximum(raised[:, at], np.minimum(raised[:, at] + cost, raised[:, at + 1]))
    known = np.clip(np.maximum.accumulate(raised, axis=1), *SHARES)
    return np.diff(known, axis=1, prepend=0.0), known[:, -1]


def _bounds(drawn: Floats, levels: Sequence[str], cost: Floats, falling: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the least and the most that can need each level, (draws, m) each.

    At most, all unsolved items need it. Every level but the full clip is strange to a model, and can hide up to
    STRANGENESS of what it would show; a falling level, all that the next one adds.
    """
    adds, solved = _additions(drawn, levels, cost)
    known = np.cumsum(adds, axis=1)
    above = np.column_stack([known[:, 1:], solved])
    most = known * (1.0 + STRANGENESS)
    is_falling = np.isin(levels, falling)
    most = np.minimum(np.where(is_falling, np.maximum(most, above), most), solved[:, None])
    below = np.column_stack([np.zeros(len(known)), known[:, :-1]])
    most_below = np.column_stack([np.zeros(len(known)), most[:, :-1]])
    return np.maximum(0.0, known - most_below), most - below + 1.0 - solved[:, None]


def _drawn(mean: Floats, spread: Floats, count: int, draws: int, seed: int) -> Floats:
    """Return (draws, m) means from the multivariate t with `count` - 1 degrees of freedom."""
    generator = np.random.default_rng(seed)
    freedom = max(1, count - 1)
    scale = np.sqrt(freedom / generator.chisquare(freedom, size=draws))
    noise = generator.multivariate_normal(np.zeros(len(mean)), spread, size=draws, method="eigh")
    return np.asarray(mean + noise * scale[:, None])


def _cost_of_shuffling(data: NeedData, leaders: Sequence[int]) -> Floats | None:
    """Return what shuffling costs on items that need no order: the estimate, then draws of it. None without a control,
    or if the leaders do not answer it: then shuffling could cost nothing there."""
    mine = [data.control[number] for number in leaders if number in data.control]
    if not mine:
        return None
    full, shuffled = (
        knowledge(np.hstack([looks[rung] for looks in mine]), data.control_chance) for rung in (FULL, SHUFFLED)
    )
    names = [str(at) for at in range(len(full))]
    if p_above(full, names, float(1.0 - data.control_chance.mean())) >= ALPHA:
        return None
    gap = (full - shuffled)[~np.isnan(full - shuffled)]
    noise = np.random.default_rng(SEED + 1).standard_t(max(1, len(gap) - 1), size=DRAWS)
    return np.maximum(0.0, np.array([gap.mean(), *(gap.mean() + noise * gap.std(ddof=1) / np.sqrt(len(gap)))]))


def _p_of(values: Floats, clusters: Sequence[str], room: float, at: int, p_luck: float) -> float:
    """Return the p that a level adds nothing: to luck, or to a level below (intersection-union test)."""
    below = [p_above(values[:, at] - values[:, under], clusters, room) for under in range(at)]
    return max([p_luck, *below])


def _falling(values: Floats, clusters: Sequence[str], room: float, levels: Sequence[str]) -> list[str]:
    """Return the levels that are below one beneath them, or below luck."""
    under = np.column_stack([np.zeros(len(values)), values])
    pairs = [(at, beneath) for at in range(len(levels)) for beneath in range(at + 1)]
    p_values = holm([p_above(under[:, beneath] - values[:, at], clusters, room) for at, beneath in pairs])
    return list(dict.fromkeys(levels[at] for (at, _), p in zip(pairs, p_values, strict=True) if p < FALLS))
