"""Compute pay, and check the median hourly pay against the minimum. Pure: decimals in, decimals out.

Every submitted task is paid: late, surplus and excluded work, too, because it was done; undone, rejected and withdrawn
work is not. Its rate is that of its submission; later rates change nothing. Hours are the measured seconds between a
page's opening and its submit, per task at most those since its claim. A task without a measured time (an upload, an old
client) is paid per task but adds no time, so hourly pay leaves it out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

HOUR = Decimal(3600)
NOTHING = Decimal(0)
# The smallest part of the currency that the ledger stores.
MICRO = Decimal("0.000001")


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
    """One person's work at one stage on one day: `pieces` tasks for `pay`.

    `timed` of them took `seconds` together, for `timed_pay`.
    """

    person: int
    stage: str
    day: date
    pieces: int
    timed: int
    seconds: float
    pay: Decimal = NOTHING
    timed_pay: Decimal = NOTHING


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


def amount_of(rate: Rate | None, seconds: float | None) -> Decimal:
    """Return what one task earns; nothing without a rate, or per hour without a measured time."""
    if rate is None:
        return NOTHING
    units = Decimal(1) if rate.unit == Unit.PIECE else Decimal(str(seconds or 0)) / HOUR
    return (rate.amount * units).quantize(MICRO)


def typed_amount(amount: Decimal) -> str:
    """Return the amount as its box shows it: with two or four decimals, because `1.234` may group thousands."""
    return f"{amount:.2f}" if amount == amount.quantize(Decimal("0.01")) else f"{amount:.4f}"


def earned(work: Iterable[PaidWork]) -> Earned:
    """Sum the cells."""
    cells = list(work)
    hours = sum((Decimal(str(cell.seconds)) for cell in cells), NOTHING) / HOUR
    timed_pay = sum((cell.timed_pay for cell in cells), NOTHING)
    pay = sum((cell.pay for cell in cells), NOTHING)
    return Earned(sum(cell.pieces for cell in cells), hours, pay, timed_pay / hours if hours else None)


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


def statement(work: Sequence[PaidWork], floor: Decimal | None = None) -> Statement:
    """Return pay of everybody, by stage, and the check against the minimum."""
    by_person: dict[int, list[PaidWork]] = {}
    by_stage: dict[str, list[PaidWork]] = {}
    by_day: dict[tuple[int, date], list[PaidWork]] = {}
    for cell in work:
        by_person.setdefault(cell.person, []).append(cell)
        by_stage.setdefault(cell.stage, []).append(cell)
        by_day.setdefault((cell.person, cell.day), []).append(cell)
    people = {person: earned(cells) for person, cells in by_person.items()}
    median = median_hour([earned(cells) for cells in by_day.values()])
    under = [] if floor is None else [pk for pk, own in people.items() if own.hourly is not None and own.hourly < floor]
    return Statement(
        total=earned(work),
        people=people,
        stages={stage: earned(cells) for stage, cells in by_stage.items()},
        median_hourly=median,
        below_floor=None if floor is None or median is None else median < floor,
        under=tuple(sorted(under)),
    )
