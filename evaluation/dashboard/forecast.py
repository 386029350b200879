"""When the work will be done. Pure.

What is left of a stage is what waits in it and what will still reach it: of R reviews, a share r is sent back and comes
again, so (waiting + coming) / (1 - r) are to be made; a share a of them is accepted, and each accepted foil is judged v
times. What a stage does in a day is the mean of its last full days, idle ones included. Stages run side by side, so the
last to end says when the work is done.

Interval: 80 %, from a seeded bootstrap. A draw takes the observed days with replacement (the pace is known from few of
them), then lives through days drawn from those until nothing is left.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 500
SEED = 0
COVERAGE = 0.8
# An interval from fewer days would say more than is known.
MIN_DAYS = 3
# Whoever needs more than a year is told the day that is expected, and no interval: who knows what will be then.
FURTHEST = 365
MAX_RETURNED_SHARE = 0.9


@dataclass(frozen=True)
class Yields:
    """What comes of a piece: foils of an edit, shares of reviews that accept and that send back, votes of a foil."""

    foils_an_edit: float = 1.0
    accepted: float = 1.0
    returned: float = 0.0
    votes_a_foil: float = 3.0


@dataclass(frozen=True)
class Left:
    """Pieces that are still to be done at each stage."""

    edit: float
    review: float
    validation: float


@dataclass(frozen=True)
class StageForecast:
    """`pace`: pieces a day; `days` None where nobody works on what is left."""

    stage: str
    left: float
    pace: float
    days: float | None


@dataclass(frozen=True)
class Forecast:
    """`days` from now, with `low` and `high` where enough days are known. `stuck`: stages that nobody works on."""

    stages: tuple[StageForecast, ...]
    days: float | None
    low: float | None = None
    high: float | None = None
    stuck: tuple[str, ...] = ()
    n_days: int = 0


def work_left(edits: float, reviews: float, votes: float, yields: Yields) -> Left:
    """`edits`, `reviews`, `votes`: places that wait or are held now."""
    back = min(yields.returned, MAX_RETURNED_SHARE)
    all_reviews = (reviews + edits * yields.foils_an_edit) / (1 - back)
    again = back * all_reviews / yields.foils_an_edit if yields.foils_an_edit else 0.0
    return Left(edits + again, all_reviews, votes + all_reviews * yields.accepted * yields.votes_a_foil)


def forecast(left: Mapping[str, float], days: Mapping[str, Sequence[int]]) -> Forecast:
    """`left`: pieces by stage. `days`: by stage what was done on each of the same days, the oldest first."""
    open_ = {stage: pieces for stage, pieces in left.items() if pieces > 0}
    n_days = max((len(done) for done in days.values()), default=0)
    stages = []
    for stage, pieces in open_.items():
        done = days.get(stage, ())
        pace = sum(done) / n_days if n_days else 0.0
        stages.append(StageForecast(stage, pieces, pace, pieces / pace if pace else None))
    stuck = tuple(one.stage for one in stages if one.days is None)
    if stuck:
        return Forecast(tuple(stages), None, stuck=stuck, n_days=n_days)
    expected = max((one.days or 0.0 for one in stages), default=0.0)
    if not stages or n_days < MIN_DAYS or expected > FURTHEST:
        return Forecast(tuple(stages), expected, n_days=n_days)
    low, high = _interval(open_, {stage: days[stage] for stage in open_}, expected)
    return Forecast(tuple(stages), expected, low, high, n_days=n_days)


def _interval(left: Mapping[str, float], days: Mapping[str, Sequence[int]], expected: float) -> tuple[float, float]:
    """Quantiles of the day on which a drawn future has nothing left; a future that never ends counts as the horizon."""
    rng = np.random.default_rng(SEED)
    table = np.array([days[stage] for stage in left], dtype=np.float64)
    n_days = table.shape[1]
    horizon = 4 * math.ceil(expected) + 14
    known = rng.integers(n_days, size=(DRAWS, n_days))
    lived = np.take_along_axis(known, rng.integers(n_days, size=(DRAWS, horizon)), axis=1)
    ends = np.zeros(DRAWS)
    for row, pieces in zip(table, left.values(), strict=True):
        done = np.cumsum(row[lived], axis=1)
        over = done >= pieces
        ends = np.maximum(ends, np.where(over.any(axis=1), over.argmax(axis=1) + 1, horizon))
    low, high = np.quantile(ends, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(min(low, expected)), float(max(high, expected))
