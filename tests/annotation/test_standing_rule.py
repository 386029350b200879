"""The rule that pauses: its arithmetic by hand, and what it does to people who are simulated by the thousand."""

import math
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.rules.gold_serving import gold_caption_first, gold_is_due, pick, pieces_to_come
from annotation.rules.pausing import (
    JudgementCounts,
    Reason,
    Thresholds,
    break_even_accuracy,
    gold_until_pause,
    gold_weight,
    position_p,
    position_weight,
    speed_weight,
    suspicion,
    wilson,
)
from annotation.rules.voting import ANSWERS

BARS = Thresholds()


def test_a_wrong_answer_weighs_three_right_ones():
    # log(.5/.08) = 1.8326, log(.5/.92) = -0.6098
    assert gold_weight(JudgementCounts(gold_seen=1), BARS) == pytest.approx(1.8326, abs=1e-4)
    assert gold_weight(JudgementCounts(gold_seen=1, gold_right=1), BARS) == pytest.approx(-0.6098, abs=1e-4)
    assert break_even_accuracy(BARS) == pytest.approx(1.8326 / (1.8326 + 0.6098), abs=1e-4)


@pytest.mark.parametrize("careful", [0.5, 0.4])
def test_gold_weighs_nothing_where_guessers_are_right_as_often(careful):
    bars = Thresholds(careful=careful, guess=0.5)
    assert (gold_weight(JudgementCounts(gold_seen=9), bars), break_even_accuracy(bars)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("seen", "right", "reason"),
    [(3, 0, None), (4, 1, Reason.GOLD), (8, 4, Reason.GOLD), (8, 5, None), (50, 46, None), (50, 33, Reason.GOLD)],
)
def test_gold_pauses_by_how_much_was_wrong_and_never_before_four(seen, right, reason):
    assert suspicion(JudgementCounts(gold_seen=seen, gold_right=right), BARS) == reason


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [(10, 0, None), (11, 0, Reason.POSITION), (0, 11, Reason.POSITION), (15, 9, None)],
)
def test_eleven_alike_in_a_row_pause_and_a_fair_mix_does_not(first, second, reason):
    # 1.8^11 / 2 = 321 > 200 > 178 = 1.8^10 / 2
    assert suspicion(JudgementCounts(first=first, second=second), BARS) == reason
    assert position_weight(JudgementCounts(first=11)) == pytest.approx(math.log((1.8**11 + 0.2**11) / 2))


def test_the_least_number_of_answers_is_enough():
    bars = replace(BARS, position_min=11)
    assert suspicion(JudgementCounts(first=11), bars) == Reason.POSITION
    assert suspicion(JudgementCounts(first=11), replace(BARS, position_min=12)) is None


@pytest.mark.parametrize(("timed", "fast", "reason"), [(7, 7, None), (8, 8, Reason.SPEED), (8, 6, None), (20, 9, None)])
def test_speed_pauses_where_far_more_than_half_are_fast(timed, fast, reason):
    assert suspicion(JudgementCounts(timed=timed, fast=fast), BARS) == reason
    assert speed_weight(JudgementCounts(timed=8, fast=8)) == pytest.approx(8 * math.log(3))


@given(st.integers(0, 60), st.integers(0, 60))
def test_pausing_does_not_depend_on_which_position_is_preferred(first, second):
    a, b = JudgementCounts(first=first, second=second), JudgementCounts(first=second, second=first)
    assert suspicion(a, BARS) == suspicion(b, BARS)
    assert position_p(first, second) == position_p(second, first)


def test_intervals_and_p_values_by_hand():
    # Wilson 1927, 8 of 10; binomial: 2 * (1 + 10) / 1024
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert position_p(9, 1) == pytest.approx(22 / 1024)
    assert (wilson(0, 0), position_p(0, 0)) == ((0.0, 1.0), 1.0)


def by_counting(first: int, second: int) -> float:
    n = first + second
    return min(1.0, 2 * (sum(math.comb(n, k) for k in range(min(first, second) + 1)) / 2**n))


@given(st.integers(0, 700), st.integers(0, 700))
@example(1_000, 1_500)
@example(2_000, 2_001)
def test_the_p_value_of_positions_is_exact_to_the_last_digit(first, second):
    assert position_p(first, second) == by_counting(first, second)


def test_a_fifth_of_the_tasks_is_gold_at_different_places_per_person():
    """40 people with 250 pieces each: 2,000 of 10,000, four standard deviations are 160."""
    places = {person: [n for n in range(250) if gold_is_due(7, person, n, 0.2)] for person in range(40)}
    assert abs(sum(map(len, places.values())) - 2000) < 160
    assert len(set(map(tuple, places.values()))) == 40
    assert gold_is_due(7, 1, 0, 0.0) is False


def test_past_tasks_reveal_nothing_about_the_next_one():
    """Right after gold and after real work alike a fifth is gold, and so is the order of its texts: no stretch ends."""
    drawn = [gold_is_due(7, 1, n, 0.2) for n in range(20_000)]
    after = {was: [is_gold for before, is_gold in pairwise(drawn) if before is was] for was in (True, False)}
    # Four standard deviations of a fifth of 4,000 and of 16,000.
    assert abs(sum(after[True]) / len(after[True]) - 0.2) < 0.026
    assert abs(sum(after[False]) / len(after[False]) - 0.2) < 0.013
    orders = [gold_caption_first(7, 3, ordinal) for ordinal in range(4000)]
    assert abs(sum(one == other for one, other in pairwise(orders)) - 2000) < 127
    assert abs(sum(orders) - 2000) < 127


def test_each_person_is_given_the_pairs_in_an_order_of_their_own():
    assert {pick(7, person, range(9), 1)[0] for person in range(60)} == set(range(9))
    assert sorted(pick(7, 1, range(9), 9)) == list(range(9))
    assert pick(7, 1, range(9), 9)[:4] == pick(7, 1, range(9), 4)
    assert pick(7, 1, [], 3) == []


@given(st.integers(0, 60), st.integers(0, 20), st.integers(0, 2**53), st.sampled_from([0.0, 0.1, 0.5]))
def test_the_number_of_tasks_to_come_falls_by_one_with_every_task(real, gold, secret, rate):
    served, before = 5, pieces_to_come(real, gold, secret, 3, 5, rate)
    assert real <= before <= real + gold
    while real:
        is_gold = gold > 0 and gold_is_due(secret, 3, served, rate)
        real, gold, served = (real, gold - 1, served + 1) if is_gold else (real - 1, gold, served + 1)
        now = pieces_to_come(real, gold, secret, 3, served, rate)
        assert now == before - 1
        before = now
    assert before == 0


def judged(kind: str, seed: int, pieces: int) -> Reason | None:
    """Whether a simulated person of this kind is paused within so many pieces, a fifth of them gold, and why."""
    random, tally, gold_seen = Random(f"{kind} {seed}"), JudgementCounts(), 0
    for served in range(pieces):
        gold = gold_is_due(11, seed, served, 0.2)
        right = random.choice(("first", "second"))
        if gold:
            right = "neither" if gold_seen % 2 else ("first" if gold_caption_first(11, seed, gold_seen) else "second")
            gold_seen += 1
        careful = right if random.random() < 0.92 else random.choice([a for a in ANSWERS if a != right])
        answer = {"always first": "first", "random": random.choice(ANSWERS)}.get(kind, careful)
        fast = random.random() < (0.95 if kind == "too fast" else 0.1)
        tally = JudgementCounts(
            tally.gold_seen + gold,
            tally.gold_right + (gold and answer == right),
            tally.first + (answer == "first"),
            tally.second + (answer == "second"),
            tally.timed + 1,
            tally.fast + fast,
        )
        if reason := suspicion(tally, BARS):
            return reason
    return None


@pytest.mark.parametrize(
    ("kind", "pieces", "low", "high"),
    [
        ("always first", 40, 0.95, 1.0),
        # Only gold tells, and some are given few pieces of it.
        ("random", 50, 0.95, 1.0),
        ("too fast", 40, 0.95, 1.0),
        ("honest", 40, 0.0, 0.02),
        # However long they work.
        ("honest", 400, 0.0, 0.02),
    ],
)
def test_nearly_all_spammers_and_nearly_nobody_else_are_paused(kind, pieces, low, high):
    people = 250 if pieces > 50 else 1_000
    assert low <= sum(judged(kind, seed, pieces) is not None for seed in range(people)) / people <= high


def test_half_of_the_guessers_are_paused_after_so_many_gold_tasks():
    bars = Thresholds()
    assert gold_until_pause(bars, 0.0) == bars.gold_min
    assert gold_until_pause(bars, 1.0) is None
    draws = Random(317)
    ends = []
    for _person in range(2000):
        right = seen = 0
        while suspicion(JudgementCounts(gold_seen=seen, gold_right=right), bars) is None:
            seen, right = seen + 1, right + (draws.random() < bars.guess)
        ends.append(seen)
    expected = gold_until_pause(bars, bars.guess)
    assert sum(end < expected for end in ends) < 1000 <= sum(end <= expected for end in ends)
