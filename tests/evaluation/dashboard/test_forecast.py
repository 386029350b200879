"""The forecast by hand: what is left, the pace, the day it ends; the interval holds what it should."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.site.dashboard.forecast import MIN_DAYS, Yields, forecast, work_left


def test_only_waiting_tasks_remain_if_nothing_follows():
    left = work_left(0, 0, 30, Yields())
    assert (left.edit, left.review, left.validation) == (0, 0, 30)


def test_edits_become_reviews_and_votes():
    # 10 edits of 2 foils: 20 reviews and the 5 that wait; 80 % accepted, 3 votes each: 60 more.
    left = work_left(10, 5, 6, Yields(foils_an_edit=2, accepted=0.8, votes_a_foil=3))
    assert (left.edit, left.review, left.validation) == (10, 25, 6 + 60)


def test_returned_foils_repeat_until_they_are_accepted_or_dropped():
    """Against the rounds played through: a quarter of each round's reviews is edited and reviewed once more."""
    yields = Yields(foils_an_edit=1, accepted=0.7, returned=0.25, votes_a_foil=3)
    reviews, edits, round_ = 0.0, 12.0, 12.0 + 4.0
    while round_ > 1e-9:
        reviews, round_ = reviews + round_, round_ * 0.25
        edits += round_
    left = work_left(12, 4, 9, yields)
    assert left.review == pytest.approx(reviews)
    assert left.edit == pytest.approx(edits)
    assert left.validation == pytest.approx(9 + 3 * 0.7 * reviews)


def test_the_slowest_stage_sets_the_date():
    # 40 edits at 10 a day: 4 days. 90 votes at 15 a day: 6 days.
    said = forecast({"edit": 40, "validation": 90}, {"edit": [10, 10], "validation": [15, 15]})
    assert (said.days, said.low, said.n_days) == (6, None, 2)


def test_idle_days_slow_the_pace():
    assert forecast({"edit": 10}, {"edit": [10, 0, 0, 10]}).stages[0].pace == 5


def test_equal_days_give_no_interval_width():
    said = forecast({"edit": 40}, {"edit": [10, 10, 10]})
    assert (said.days, said.low, said.high) == (4, 4, 4)


def test_uneven_days_give_an_interval_around_the_expectation():
    said = forecast({"edit": 200}, {"edit": [5, 30, 0, 25, 10, 20]})
    assert said.low < said.days < said.high
    assert forecast({"edit": 200}, {"edit": [5, 30, 0, 25, 10, 20]}) == said


def test_a_stage_that_nobody_works_on_has_no_end():
    said = forecast({"edit": 3, "review": 5}, {"edit": [1, 1, 1], "review": [0, 0, 0]})
    assert (said.days, said.stuck) == (None, ("review",))


def test_no_remaining_work_means_done():
    assert forecast({"edit": 0}, {"edit": [3]}).days == 0
    assert forecast({}, {}).stages == ()


def test_the_interval_covers_most_outcomes():
    """Worlds whose days are drawn from one law: 80 % intervals from ten days hold at least 70 % of the true ends."""
    chance, held, worlds = random.Random(4), 0, 60
    for _ in range(worlds):
        day = lambda: chance.choice((0, 5, 10, 15, 20))  # noqa: E731
        said, left, n = forecast({"edit": 300}, {"edit": [day() for _ in range(10)]}), 300, 0
        while left > 0:
            left, n = left - day(), n + 1
        held += said.days is not None and said.low <= n <= said.high
    assert held >= 0.7 * worlds


@settings(deadline=None, max_examples=40)
@given(st.floats(0.1, 1e4), st.lists(st.integers(0, 50), min_size=1, max_size=14))
def test_more_work_never_ends_sooner(left, days):
    now, more = forecast({"edit": left}, {"edit": days}), forecast({"edit": 2 * left}, {"edit": days})
    if sum(days):
        assert now.days == pytest.approx(left / (sum(days) / len(days)))
        assert more.days >= now.days
        assert (now.low is None) == (len(days) < MIN_DAYS or now.days > 365)
        assert now.low is None or (now.low <= now.days <= now.high and math.isfinite(now.high))
    else:
        assert now.stuck == ("edit",)
