"""The rule that pauses: its arithmetic by hand, and what it does to people who are simulated by the thousand."""

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.gold_serving import gold_caption_first, gold_is_due, pick, stretch_of
from annotation.rules.pausing import (
    JudgementCounts,
    Reason,
    Thresholds,
    accuracy_on_the_line,
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
    assert accuracy_on_the_line(BARS) == pytest.approx(1.8326 / (1.8326 + 0.6098), abs=1e-4)


@pytest.mark.parametrize("careful", [0.5, 0.4])
def test_gold_weighs_nothing_where_guessers_are_right_as_often(careful):
    bars = Thresholds(careful=careful, guess=0.5)
    assert (gold_weight(JudgementCounts(gold_seen=9), bars), accuracy_on_the_line(bars)) == (0.0, 0.0)


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
def test_what_is_pausing_does_not_depend_on_which_place_is_chosen(first, second):
    a, b = JudgementCounts(first=first, second=second), JudgementCounts(first=second, second=first)
    assert suspicion(a, BARS) == suspicion(b, BARS)
    assert position_p(first, second) == position_p(second, first)


def test_intervals_and_p_values_by_hand():
    # Wilson 1927, 8 of 10; binomial: 2 * (1 + 10) / 1024
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert position_p(9, 1) == pytest.approx(22 / 1024)
    assert (wilson(0, 0), position_p(0, 0)) == ((0.0, 1.0), 1.0)


def test_a_fifth_of_the_pieces_is_gold_at_places_that_differ_from_person_to_person():
    places = {}
    for person in range(40):
        last, found = -1, []
        for served in range(40):
            if gold_is_due(7, person, served, 0.2, last):
                found.append(served)
                last = stretch_of(served, 0.2)
        assert [served // 5 for served in found] == list(range(8))
        places[person] = tuple(found)
    assert len(set(places.values())) == 40
    assert gold_is_due(7, 1, 0, 0.0, -1) is False
    orders = [gold_caption_first(7, 3, ordinal) for ordinal in range(40)]
    assert all(orders[n] != orders[n + 1] for n in range(0, 40, 2))
    assert {pick(7, person, range(9)) for person in range(60)} == set(range(9))
    assert pick(7, 1, []) is None


def judged(kind: str, seed: int, pieces: int) -> Reason | None:
    """Whether a simulated person of this kind is paused within so many pieces, a fifth of them gold, and why."""
    random, tally, last, gold_seen = Random(f"{kind} {seed}"), JudgementCounts(), -1, 0
    for served in range(pieces):
        gold = gold_is_due(11, seed, served, 0.2, last)
        right = random.choice(("first", "second"))
        if gold:
            last = stretch_of(served, 0.2)
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
        ("random", 40, 0.95, 1.0),
        ("too fast", 40, 0.95, 1.0),
        ("honest", 40, 0.0, 0.02),
        # However long they work.
        ("honest", 400, 0.0, 0.02),
    ],
)
def test_nearly_all_who_fool_and_nearly_nobody_else_is_paused(kind, pieces, low, high):
    people = 250 if pieces > 40 else 1_000
    assert low <= sum(judged(kind, seed, pieces) is not None for seed in range(people)) / people <= high
