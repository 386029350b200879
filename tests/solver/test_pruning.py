"""Selections of items: chances, bounds, and what families that did not choose find in the rest."""

import random

import numpy as np
import pytest

from benchmarks.made_up_sets import FAIR
from benchmarks.planted_shortcuts import PLANTS
from foilworks.core.solver import pruning
from foilworks.core.solver.design import RESERVED, SELECTING
from foilworks.core.solver.folds import structure_of
from foilworks.core.solver.inference import largest_fair
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.passes import answer_tiers
from foilworks.core.solver.pruning import FAIR_MARGIN, Pruner, keep_chances, prune
from foilworks.core.solver.questions import Row, separate_answers
from foilworks.core.solver.solution import Selection
from foilworks.core.solver.solve import first_view


def pair(number, right="up", wrong="down", **facts):
    return Row(f"it goes {right}", (f"it goes {wrong}",), video=f"v{number}", id=f"i{number}", **facts)


@pytest.mark.parametrize(
    ("probabilities", "margin", "expected"),
    [
        # Right with the larger probability: stays with .2 / .8. Right with the smaller one: always.
        ([0.8, 0.2], 0.0, [0.25, 1.0]),
        ([0.5, 0.5], 0.0, [1.0, 1.0]),
        ([0.54, 0.46], 0.04, [1.0, 1.0]),
        # The cap c of one option of three: c / (c + .4) = 1 / 3 + .1.
        ([0.6, 0.2, 0.2], 0.1, [0.4 * 13 / 17 / 0.6, 1.0, 1.0]),
    ],
)
def test_an_option_is_kept_as_often_as_its_share_allows(probabilities, margin, expected):
    options = [f"option {at}" for at in range(len(probabilities))]
    rows = [Row(right, tuple(row for row in options if row != right), at) for at, right in enumerate(options)]
    questions, answers = separate_answers(rows)
    layout = Layout.of(questions)
    chances = keep_chances(layout, np.tile(probabilities, len(rows)), answers, margin, 1.0)
    assert chances == pytest.approx(expected)


def test_the_largest_fair_subset_has_as_many_wrong_answers_as_it_needs():
    credits = np.repeat([1.0, 0.0], [95, 5])
    assert largest_fair(credits, np.full(100, 0.5)) == 10
    assert largest_fair(np.ones(100), np.full(100, 0.5)) == 0
    assert largest_fair(np.zeros(100), np.full(100, 0.5)) == 100


def test_a_small_set_is_answered_with_several_draws_of_folds(monkeypatch):
    questions, answers = separate_answers(FAIR["pairs"](random.Random(0), 60))
    seeds = []

    def recorded(design, answers, folds, tiers, seed):
        seeds.append(seed)
        return answer_tiers(design, answers, folds, tiers, seed)

    monkeypatch.setattr(pruning, "answer_tiers", recorded)
    Pruner(questions, answers).select(1.0, 0)
    assert len(set(seeds)) == len(seeds) == pruning.N_DRAWS
    monkeypatch.setattr(pruning, "MIN_ITEMS_OF_ONE_DRAW", 60)
    Pruner(questions, answers).select(1.0, 0)
    assert len(seeds) == pruning.N_DRAWS + 1


def test_a_set_that_one_word_tells_has_no_fair_subset():
    result = prune(*separate_answers([pair(number) for number in range(60)]), n_seeds=1)
    assert (result.verdict, result.bound, result.is_kept.all()) == ("no_fair_subset", 0, True)


def test_families_that_chose_do_not_acquit_but_find_failures():
    fair = [pair(number, *random.Random(number).sample(("up", "down"), 2)) for number in range(100)]
    record = Selection(("x",), SELECTING)
    questions, answers = separate_answers(fair)
    plain, selected = first_view(questions, answers), first_view(questions, answers, selection=record)
    assert (plain.held_out, plain.probes, selected.probes) == (None, (), SELECTING)
    assert selected.headline is selected.held_out
    assert selected.tiers == plain.tiers
    assert first_view(questions, answers, selection=Selection((), SELECTING)) == plain
    assert not set(RESERVED) & set(SELECTING)
    leaking = first_view(*separate_answers([pair(number) for number in range(60)]), selection=record)
    assert (leaking.headline.verdict, leaking.headline) == ("fail", leaking.tiers["set"])


def selected(name, n, seed=0):
    questions, answers = separate_answers(PLANTS[name].make(random.Random(f"{name} {seed}"), n))
    return questions, prune(questions, answers, seed, n_seeds=1)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(set(PLANTS)))
def test_the_rest_of_a_plant_is_fair_or_the_bound_says_why_not(name):
    _questions, result = selected(name, 1000)
    if result.verdict == "fair":
        row = result.certificate.headline
        assert abs(row.value - row.chance) <= FAIR_MARGIN
        assert row.interval[1] - row.interval[0] <= 0.12
    else:
        assert result.bound < 200 or result.is_kept.sum() < 700


@pytest.mark.full
def test_a_higher_target_leaves_more_items():
    questions, answers = separate_answers(PLANTS["cue word"].make(random.Random(0), 400))
    pruner = Pruner(questions, answers)
    few, many = (pruner.select(target, 0) for target in (0.02, 0.2))
    assert few[0].sum() < many[0].sum() < 400
    assert many[1][-1].value <= many[1][-1].chance + 0.2


@pytest.mark.full
@pytest.mark.parametrize("name", ["mirrored pairs", "mirrored pairs hide a word"])
def test_mirrored_sets_lose_nothing(name):
    questions, result = selected(name, 600)
    mirrored = structure_of(questions, separate_answers(PLANTS[name].make(random.Random(f"{name} 0"), 600))[1]).mirrored
    assert (mirrored >= 0).any()
    assert result.is_kept[mirrored >= 0].all()
