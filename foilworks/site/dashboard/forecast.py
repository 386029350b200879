"""Forecast when the work will be done. Pure.

The work of a stage is what waits in it and what will still reach it. A share r of reviews returns the foil, which is
then reviewed again, so (waiting + coming) / (1 - r) reviews are needed. A share a of them accepts, and each accepted
foil is judged v times. The pace of a stage is the mean of its last full days, idle days included. Stages run in
parallel, so the last one sets the date.

Interval: 80 %, from a seeded bootstrap. A draw resamples the observed days with replacement (the pace is known from few
of them), then simulates days drawn from those until no work remains.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 500
SEED = 0
COVERAGE = 0.8
# An interval from fewer days would be falsely precise.
MIN_DAYS = 3
# Beyond a year, only the expected day is shown, without an interval: the pace of today says little about then.
FURTHEST = 365
MAX_RETURNED_SHARE = 0.9


@dataclass(frozen=True)
class Yields:
    """Outcomes per task: foils per edit, shares of reviews that accept and that return, votes per foil."""

    foils_an_edit: float = 1.0
    accepted: float = 1.0
    returned: float = 0.0
    votes_a_foil: float = 3.0


@dataclass(frozen=True)
class RemainingWork:
    """Tasks that remain at each stage."""

    edit: float
    review: float
    validation: float


@dataclass(frozen=True)
class StageForecast:
    """`pace`: tasks per day; `days` None if nobody works on the remaining tasks."""

    stage: str
    left: float
    pace: float
    days: float | None


@dataclass(frozen=True)
class Forecast:
    """`days` from now, with `low` and `high` if enough days are known. `stuck`: stages that nobody works on."""

    stages: tuple[StageForecast, ...]
    days: float | None
    low: float | None = None
    high: float | None = None
    stuck: tuple[str, ...] = ()
    n_days: int = 0


def work_left(edits: float, reviews: float, votes: float, yields: Yields) -> RemainingWork:
    """Compute the remaining tasks. `edits`, `reviews`, `votes`: slots that are open or leased now."""
    back = min(yields.returned, MAX_RETURNED_SHARE)
    all_reviews = (reviews + edits * yields.foils_an_edit) / (1 - back)
    returned = back * all_reviews / yields.foils_an_edit if yields.foils_an_edit else 0.0
    return RemainingWork(edits + returned, all_reviews, votes + all_reviews * yields.accepted * yields.votes_a_foil)


def forecast(tasks_left: Mapping[str, float], days: Mapping[str, Sequence[int]]) -> Forecast:
    """Forecast the end. `tasks_left`: by stage. `days`: by stage, the tasks done on the same days, oldest first."""
    open_ = {stage: pieces for stage, pieces in tasks_left.items() if pieces > 0}
    n_days = max((len(tasks_per_day) for tasks_per_day in days.values()), default=0)
    stages = []
    for stage, pieces in open_.items():
        tasks_per_day = days.get(stage, ())
        pace = sum(tasks_per_day) / n_days if n_days else 0.0
        stages.append(StageForecast(stage, pieces, pace, pieces / pace if pace else None))
    stuck = tuple(row.stage for row in stages if row.days is None)
    if stuck:
        return Forecast(tuple(stages), None, stuck=stuck, n_days=n_days)
    expected = max((row.days or 0.0 for row in stages), default=0.0)
    if not stages or n_days < MIN_DAYS or expected > FURTHEST:
        return Forecast(tuple(stages), expected, n_days=n_days)
    low, high = _interval(open_, {stage: days[stage] for stage in open_}, expected)
    return Forecast(tuple(stages), expected, low, high, n_days=n_days)


def _interval(
    tasks_left: Mapping[str, float], days: Mapping[str, Sequence[int]], expected: float
) -> tuple[float, float]:
    """Return quantiles of the day on which a simulation has no work left; one that never ends counts as the horizon."""
    rng = np.random.default_rng(SEED)
    table = np.array([days[stage] for stage in tasks_left], dtype=np.float64)
    n_days = table.shape[1]
    horizon = 4 * math.ceil(expected) + 14
    resampled = rng.integers(n_days, size=(DRAWS, n_days))
    lived = np.take_along_axis(resampled, rng.integers(n_days, size=(DRAWS, horizon)), axis=1)
    ends = np.zeros(DRAWS)
    for row, pieces in zip(table, tasks_left.values(), strict=True):
        cumulative = np.cumsum(row[lived], axis=1)
        over = cumulative >= pieces
        ends = np.maximum(ends, np.where(over.any(axis=1), over.argmax(axis=1) + 1, horizon))
    low, high = np.quantile(ends, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(min(low, expected)), float(max(high, expected))
