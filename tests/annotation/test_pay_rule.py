"""Pay by the piece and by the hour, and the hour in the middle. All arithmetic is done by hand beside the numbers."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.pay import HOUR, Earned, PaidWork, Rate, Unit, amount_of, earned, median_hour, statement

MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)
PIECE = {"validation": Rate(Unit.PIECE, Decimal("0.25"))}
HOURLY = {"validation": Rate(Unit.HOUR, Decimal(12))}


def at(rates, *cells: PaidWork) -> list[PaidWork]:
    """Return the cells with the pay of their tasks, as the ledger sums it."""

    def paid(cell: PaidWork) -> PaidWork:
        rate = rates.get(cell.stage)
        if rate is None:
            return cell
        if rate.unit == Unit.HOUR:
            pay = rate.amount * Decimal(str(cell.seconds)) / HOUR
            return replace(cell, pay=pay, timed_pay=pay)
        return replace(cell, pay=rate.amount * cell.pieces, timed_pay=rate.amount * cell.timed)

    return [paid(cell) for cell in cells]


def cell(person=1, pieces=60, seconds=3600.0, timed=None, day=MONDAY, stage="validation") -> PaidWork:
    return PaidWork(person, stage, day, pieces, pieces if timed is None else timed, seconds)


def test_tasks_are_paid_per_task():
    # 60 pieces at 0.25 in an hour: 15.
    found = earned(at(PIECE, cell()))
    assert (found.pay, found.hours, found.hourly) == (15, 1, 15)


def test_hours_are_paid_by_the_hour():
    # 1800 s at 12 an hour: 6, and an hour earns 12 whatever the pace.
    found = earned(at(HOURLY, cell(seconds=1800.0)))
    assert (found.pay, found.hourly) == (6, 12)


@pytest.mark.parametrize(
    ("unit", "amount", "seconds", "pay"),
    [
        ("piece", "0.12", 99.0, "0.12"),
        ("piece", "0.12", None, "0.12"),
        ("hour", "12", 100.0, "0.333333"),
        ("hour", "12", None, "0"),
    ],
)
def test_one_task_earns_its_rate_or_its_measured_time(unit, amount, seconds, pay):
    # 12 an hour for 100 of its 3600 seconds: a third, to the millionth.
    assert amount_of(Rate(unit, Decimal(amount)), seconds) == Decimal(pay)
    assert amount_of(None, seconds) == 0


def test_tasks_without_a_measured_time_are_paid_but_not_in_hourly_pay():
    # 60 pieces are paid (15); 30 of them took the measured half hour: 7.50 in 0.5 h is 15 an hour, not 30.
    found = earned(at(PIECE, cell(pieces=60, timed=30, seconds=1800.0)))
    assert (found.pay, found.hourly) == (15, 15)
    assert earned(at(PIECE, cell(timed=0, seconds=0.0))).hourly is None


def test_a_stage_without_a_rate_takes_time_and_earns_nothing():
    # Half an hour of reviews pays nothing: 15 for 1.5 hours is 10 an hour.
    found = earned(at(PIECE, cell(), cell(stage="review", seconds=1800.0)))
    assert (found.pay, found.hourly) == (15, 10)


def test_the_median_hourly_pay_is_over_hours_not_people():
    # One person worked 8 hours at 7.50 (240 pieces), two worked 1 hour at 15: of 10 hours the middle one earned 7.50.
    slow = cell(person=1, pieces=240, seconds=8 * 3600.0)
    said = statement(at(PIECE, slow, cell(person=2), cell(person=3)), Decimal(10))
    assert said.median_hourly == Decimal("7.5")
    assert said.below_floor is True
    assert said.under == (1,)
    assert said.total.pay == 90


def test_a_floor_that_is_met_exactly_is_met():
    said = statement(at(PIECE, cell()), Decimal(15))
    assert (said.below_floor, said.under) == (False, ())


def test_without_a_floor_or_without_time_nothing_is_said_of_it():
    assert statement(at(PIECE, cell())).below_floor is None
    assert statement(at(PIECE, cell(timed=0, seconds=0.0)), Decimal(10)).below_floor is None
    assert statement([], Decimal(10)).median_hourly is None


def test_days_of_one_person_count_apart():
    # A good day of one hour (30) and a bad one of two (5): the hour in the middle of three is a bad one.
    good, bad = cell(pieces=120), cell(pieces=40, seconds=7200.0, day=TUESDAY)
    assert statement(at(PIECE, good, bad), Decimal(9)).median_hourly == 5


cells = st.builds(
    PaidWork,
    st.integers(1, 4),
    st.sampled_from(["edit", "validation"]),
    st.sampled_from([MONDAY, TUESDAY]),
    st.integers(1, 500),
    st.just(1),
    st.floats(1.0, 86_400.0),
)


@given(st.lists(cells, max_size=12), st.decimals(0, 50, places=2))
def test_people_and_stages_add_up_to_the_whole(work, amount):
    rates = {"edit": Rate(Unit.PIECE, amount), "validation": Rate(Unit.HOUR, amount)}
    said = statement(at(rates, *work), Decimal(10))
    for parts in (said.people, said.stages):
        assert sum((part.pay for part in parts.values()), Decimal(0)) == pytest.approx(said.total.pay)
        assert sum(part.pieces for part in parts.values()) == said.total.pieces


@given(st.lists(cells, min_size=1, max_size=12))
def test_the_median_is_between_the_lowest_and_the_highest_hour(work):
    found = [earned(at(PIECE, one)) for one in work]
    assert min(one.hourly for one in found) <= median_hour(found) <= max(one.hourly for one in found)


def test_cells_add_up_and_one_without_a_rate_ends_nothing():
    work = [cell(stage="review", pieces=7), cell(), cell(pieces=20)]
    found = earned(at(PIECE, *work))
    # 80 pieces at 0.25 are 20, over the three hours that all of it took.
    assert (found.pieces, found.hours, found.pay, found.hourly) == (87, 3, 20, Decimal(20) / 3)


def test_the_median_hourly_pay_is_the_lower_of_two_middle_hours():
    one, two, three = (Earned(1, Decimal(1), Decimal(pay), Decimal(pay)) for pay in (1, 2, 3))
    assert median_hour([three, one, two]) == 2
    assert median_hour([two, one]) == 1
    assert median_hour([three, three, one]) == 3
    assert median_hour([]) is None


def test_a_statement_names_each_stage_and_people_below_the_minimum():
    work = [cell(person=2), cell(person=1, pieces=20, stage="review")]
    rates = {**PIECE, "review": Rate(Unit.PIECE, Decimal("0.25"))}
    found = statement(at(rates, *work), Decimal(15))
    assert {stage: own.pay for stage, own in found.stages.items()} == {"validation": 15, "review": 5}
    assert (found.total.pay, found.under, found.median_hourly, found.below_floor) == (20, (1,), 5, True)
    assert statement(at(rates, *work), Decimal(5)).under == ()
    assert statement(at(rates, *work), Decimal(5)).below_floor is False
