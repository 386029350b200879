"""Compute pay, and check the median hourly pay against the minimum. Pure: decimals in, decimals out.

Every submitted task is paid: late, surplus and excluded work, too, because it was done; undone work is not. Hours are
the measured seconds between a page's opening and its submit, per task at most those since its claim. A task without a
measured time (an upload, an old client) is paid per task but adds no time, so hourly pay leaves it out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

HOUR = Decimal(3600)
NOTHING = Decimal(0)


class Unit(StrEnum):
    PIECE = "piece"
    HOUR = "hour"


@dataclass(frozen=True)
class Rate:
    """`amount` in the project's currency for one unit."""

    unit: str
    amount: Decimal


@dataclass(frozen=True)
class PaidWork:
    """One person's work at one stage on one day: `pieces` tasks, of which `timed` took `seconds` together."""

    person: int
    stage: str
    day: date
    pieces: int
    timed: int
    seconds: float


@dataclass(frozen=True)
class Earned:
    """Pay and hours; `hourly` covers measured tasks only, None if nothing was measured."""

    pieces: int = 0
    hours: Decimal = NOTHING
    pay: Decimal = NOTHING
    hourly: Decimal | None = None


@dataclass(frozen=True)
class Statement:
    """Pay by person and stage, with the check against the minimum.

    `median_hourly`: the median hourly pay of all hours worked (see `median_hour`). `below_floor`: whether it is below
    the minimum, None without a minimum or a measured hour; `under`: people whose own mean is below it.
    """

    total: Earned
    people: Mapping[int, Earned]
    stages: Mapping[str, Earned] = field(default_factory=dict)
    median_hourly: Decimal | None = None
    below_floor: bool | None = None
    under: tuple[int, ...] = ()


def earned(work: Iterable[PaidWork], rates: Mapping[str, Rate]) -> Earned:
    """Sum the cells; a stage without a rate earns nothing, but its time counts."""
    pieces, hours, pay, of_timed = 0, NOTHING, NOTHING, NOTHING
    for cell in work:
        spent = Decimal(str(cell.seconds)) / HOUR
        rate = rates.get(cell.stage)
        pieces, hours = pieces + cell.pieces, hours + spent
        if rate is None:
            continue
        by_hour = rate.unit == Unit.HOUR
        pay += rate.amount * (spent if by_hour else cell.pieces)
        of_timed += rate.amount * (spent if by_hour else cell.timed)
    return Earned(pieces, hours, pay, of_timed / hours if hours else None)


def median_hour(days: Sequence[Earned]) -> Decimal | None:
    """Return the median of all hours, each at the mean pay of its person and day.

    Between two middle hours, the lower one counts: rounding must not reach the minimum.
    """
    paid_days = sorted((day.hourly, day.hours) for day in days if day.hourly is not None)
    middle, passed = sum((hours for _hourly, hours in paid_days), NOTHING) / 2, NOTHING
    for hourly, hours in paid_days:
        passed += hours
        if passed >= middle:
            return hourly
    return None


def statement(work: Sequence[PaidWork], rates: Mapping[str, Rate], floor: Decimal | None = None) -> Statement:
    """Return pay of everybody, by stage, and the check against the minimum."""
    by_person: dict[int, list[PaidWork]] = {}
    by_stage: dict[str, list[PaidWork]] = {}
    by_day: dict[tuple[int, date], list[PaidWork]] = {}
    for cell in work:
        by_person.setdefault(cell.person, []).append(cell)
        by_stage.setdefault(cell.stage, []).append(cell)
        by_day.setdefault((cell.person, cell.day), []).append(cell)
    people = {person: earned(cells, rates) for person, cells in by_person.items()}
    median = median_hour([earned(cells, rates) for cells in by_day.values()])
    under = [] if floor is None else [pk for pk, own in people.items() if own.hourly is not None and own.hourly < floor]
    return Statement(
        total=earned(work, rates),
        people=people,
        stages={stage: earned(cells, rates) for stage, cells in by_stage.items()},
        median_hourly=median,
        below_floor=None if floor is None or median is None else median < floor,
        under=tuple(sorted(under)),
    )
