"""What the items of a benchmark need: shares, their intervals and the evidence per item, on made-up projects."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.ladder_needs import SIMULATORS, data_of, make_plain, measure
from evaluation.charts import waterfall
from evaluation.metrics import need_evidence, needs
from evaluation.metrics.needs import NeedData, Solver

RUNGS = ("no_clip", "best_frame", "shuffled", "full")


def ordered(n=120, looks=1, seed=0, ability=1.0):
    """One model that answers every item with the full clip only, with this probability, and guesses with less."""
    random = np.random.default_rng(seed)
    credit = {rung: (random.random((n, looks)) < 0.5).astype(float) for rung in RUNGS[:-1]}
    credit["full"] = (random.random((n, looks)) < 0.5 + ability / 2).astype(float)
    return NeedData([Solver("model", credit)], np.full(n, 0.5), [f"v{at}" for at in range(n)])


def share_of(found, level):
    return next(part for part in found["parts"] if part["parts"][-1] == level)


def test_a_set_of_order_needs_the_order_within_0_and_1():
    found = needs.shares(ordered())
    order = share_of(found, "order")
    assert (order["share"] > 0.9, order["shown"]) == (True, True)
    assert all(0 <= bound <= 1 for part in found["parts"] for bound in part["ci"])
    assert sum(part["share"] for part in found["parts"]) == pytest.approx(1.0)
    assert order["ci"][0] <= 1.0 == order["ci"][1]


def test_intervals_include_what_unsolved_items_may_need():
    found = needs.shares(ordered(ability=0.5))
    low, high = share_of(found, "order")["ci"]
    assert low < 0.5
    assert high == 1.0
    assert found["solved"] == pytest.approx(0.5, abs=0.2)


def test_a_model_at_luck_shows_nothing():
    found = needs.shares(ordered(ability=0.0))
    assert (found["parts"], found["guessers"], found["solved"]) == ([], ["model"], None)


def test_any_solver_above_luck_counts_against_a_need():
    data = ordered()
    reader = Solver("texts", {"no_clip": np.ones((120, 1))}, is_model=False)
    found = needs.shares(replace(data, solvers=[*data.solvers, reader]))
    assert found["against"]["words"] == {"solver": "texts", "rung": "no_clip"}
    assert (share_of(found, "words")["share"], share_of(found, "order")["shown"]) == (1.0, False)


def test_what_shuffling_costs_does_not_count_as_order():
    data = ordered()
    random = np.random.default_rng(1)
    right = {"full": np.ones((100, 1)), "shuffled": (random.random((100, 1)) < 0.75).astype(float)}
    control = replace(data, control={0: right}, control_chance=np.full(100, 0.5))
    with_control, without = needs.shares(control), needs.shares(data)
    assert (with_control["at_most"], without["at_most"]) == (False, True)
    cost = share_of(without, "order")["share"] - share_of(with_control, "order")["share"]
    assert cost == pytest.approx(0.5, abs=0.2)
    guessed = replace(control, control={0: dict.fromkeys(right, (random.random((100, 1)) < 0.5).astype(float))})
    assert needs.shares(guessed)["at_most"] is True


def test_a_rung_below_one_beneath_it_is_flagged():
    data = ordered()
    credit = {**data.solvers[0].looks, "best_frame": np.ones((120, 1))}
    found = needs.shares(replace(data, solvers=[Solver("model", credit)]))
    assert found["not_monotone"] == ["frames"]


def test_repeated_looks_count_less_than_independent_ones():
    random = np.random.default_rng(0)
    looks = (random.random((400, 6)) < 0.5).astype(float)
    assert need_evidence.effective_looks(looks, 0.5) > 5
    assert need_evidence.effective_looks(np.repeat(looks[:, :1], 6, axis=1), 0.5) < 1.1
    two_orders = np.column_stack([looks[:, 0], np.where(random.random(400) < 0.7, looks[:, 0], looks[:, 1])])
    assert 1 < need_evidence.effective_looks(two_orders, 0.5) < 1.7


@pytest.mark.parametrize(("looks", "is_enough"), [(1, False), (3, False), (8, True)])
def test_items_are_named_from_five_effective_looks_on(looks, is_enough):
    data = ordered(looks=looks)
    found = need_evidence.evidence(data, ["s"] * 120)
    assert found.is_enough("order") is is_enough
    assert bool(found.supported("order").sum() >= 100) is is_enough
    assert not (found.supported("order") & ~found.supported("clip")).any()


def test_made_up_projects_are_covered_and_their_items_supported_rightly():
    results = [measure(make, seed) for make in SIMULATORS.values() for seed in range(16)]
    rows = [row for result in results for row in result["rows"]]
    assert np.mean([row["covers"] for row in rows]) >= 0.93
    # Of the width, what unsolved items leave open is no error.
    width = [row["high"] - row["low"] - 1 + result["solved"] for result in results for row in result["rows"]]
    assert np.mean(width) <= 0.3
    named = [result for result in results if result["enough"] and result["n_supported"]]
    assert len(named) >= 5
    assert np.mean([result["n_false"] / result["n_supported"] for result in named]) <= 0.12


def test_nothing_is_declared_where_all_guess():
    empty = [
        needs.shares(data_of(make(seed, needs_nothing=True))) for make in SIMULATORS.values() for seed in range(20)
    ]
    assert np.mean([any(part["shown"] for part in found["parts"]) for found in empty]) <= 0.064


@pytest.mark.full
def test_hundreds_of_projects_are_covered():
    for make in SIMULATORS.values():
        rows = [row for seed in range(300) for row in measure(make, seed)["rows"]]
        assert np.mean([row["covers"] for row in rows]) >= 0.93


def test_the_waterfall_starts_each_bar_where_the_last_ends():
    rows = [("Words alone", 0.25, (0.1, 0.4)), ("Order <of> frames", 0.75, (0.6, 1.0))]
    svg = waterfall.draw(rows).decode()
    zero, end = waterfall.ZERO, waterfall.END
    quarter = zero + (end - zero) / 4
    assert f'<rect x="{zero:.1f}" y="48" width="{quarter - zero:.1f}"' in svg
    assert f'<rect x="{quarter:.1f}" y="92" width="{end - quarter:.1f}"' in svg
    assert "Order &lt;of&gt; frames: 75\N{NARROW NO-BREAK SPACE}% [60, 100]" in svg
    assert waterfall.tikz(rows).count(r"\fill[blue") == 2


def test_own_projects_are_reproducible():
    assert (make_plain(3).need == make_plain(3).need).all()
