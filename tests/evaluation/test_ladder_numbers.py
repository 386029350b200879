"""The parts of a score by rung: a hand-made example, exact sums, a planted benchmark taken apart over many seeds."""

from itertools import product

import numpy as np
import pytest

from evaluation.metrics import ladder
from evaluation.metrics.ladder import LadderScores, compute, levels_of, luck, lucky, of_models
from evaluation.scoring.rungs import Rung

DRAWS = 300
LEVEL_OF_RUNG = {"no_clip": 1, "best_frame": 2, "shuffled": 3, "full": 4}


def planted(seed, n=240, texts=2, rungs=LEVEL_OF_RUNG):
    """A third of the items is solved by words, a third by one frame, a third by order; the model guesses the others."""
    random = np.random.default_rng(seed)
    level = np.repeat([1, 2, 4], n // 3)
    chance = np.full(n, 1 / texts)
    credit = {
        rung: np.where(level <= LEVEL_OF_RUNG.get(rung, 1), 1.0, random.random(n) < chance).astype(float)
        for rung in rungs
    }
    return LadderScores(credit, chance, [f"v{at // 2}" for at in range(n)])


def test_the_names_of_the_rungs_are_those_that_are_scored():
    assert tuple(Rung) == ladder.RUNGS


def test_a_small_ladder_by_hand():
    # Four items of two texts: T is .5 without a clip, .75 with a frame, .75 shuffled, 1 in full.
    credit = {
        "no_clip": np.array([1.0, 1.0, 0.0, 0.0]),
        "best_frame": np.array([1.0, 1.0, 1.0, 0.0]),
        "shuffled": np.array([1.0, 1.0, 0.5, 0.5]),
        "full": np.ones(4),
    }
    found = compute(LadderScores(credit, np.full(4, 0.5), list("abcd")), draws=DRAWS)
    assert [(part["parts"], part["value"], part["share"]) for part in found["parts"]] == [
        (["words"], 0.0, 0.0),
        (["picture"], 0.25, 0.5),
        (["frames"], 0.0, 0.0),
        (["order"], 0.25, 0.5),
    ]
    assert found["too_few"]
    assert {part["say"] for part in found["parts"]} == {ladder.TOO_FEW}
    assert [row["drop"] for row in found["rungs"].values()] == [0.5, 0.25, 0.25, None]


def test_items_with_more_texts_count_by_what_a_guess_leaves():
    # One item of two texts and one of five, both known from the clip: each is one item that needs it.
    credit = {"no_clip": np.array([0.5, 0.2]), "full": np.ones(2)}
    (words, rest) = compute(LadderScores(credit, np.array([0.5, 0.2]), ["a", "b"]), draws=DRAWS)["parts"]
    assert (words["value"], rest["share"]) == (0, 1.0)
    assert rest["value"] == pytest.approx(0.65)


@pytest.mark.parametrize("left_out", [(), ("no_clip",), ("best_frame",), ("best_frame", "shuffled"), ("shuffled",)])
def test_parts_sum_to_the_score_above_chance_and_join_where_a_rung_is_missing(left_out):
    rungs = [rung for rung in LEVEL_OF_RUNG if rung not in left_out]
    found = compute(planted(3, rungs=rungs), draws=DRAWS)
    total = sum(part["value"] for part in found["parts"])
    assert total == pytest.approx(found["rungs"]["full"]["T"] - found["chance"], abs=1e-12)
    assert [name for part in found["parts"] for name in part["parts"]] == ["words", "picture", "frames", "order"]
    assert len(found["parts"]) == 4 - len(left_out)


def test_a_planted_benchmark_is_taken_apart_into_its_thirds():
    truth = {"words": 1 / 3, "picture": 1 / 3, "frames": 0.0, "order": 1 / 3}
    inside = []
    for seed, texts in product(range(30), (2, 5)):
        parts = compute(planted(seed, texts=texts), draws=DRAWS)["parts"]
        for part in parts:
            low, high = part["share_ci"]
            inside.append(low <= truth[part["parts"][0]] <= high)
    assert len(inside) == 240
    assert np.mean(inside) >= 0.95


def test_only_items_that_all_rungs_scored_count():
    data = planted(1)
    data.credit["shuffled"][:40] = np.nan
    found = compute(data, draws=DRAWS)
    assert (found["n"], found["n_left_out"]) == (200, 40)


def test_sentences_follow_the_intervals():
    said = [ladder.said(interval, 100) for interval in ([0.01, 0.1], [-0.02, 0.1], [-0.2, -0.1], None)]
    assert said == ["needs", "nothing", "costs", "too_few"]
    assert ladder.said([0.01, 0.1], 19) == "too_few"


def test_diagnostics_are_outside_of_the_sum():
    rungs = {**LEVEL_OF_RUNG, "other_clip": 1, "reversed": 3}
    found = compute(planted(2, rungs=rungs), draws=DRAWS)
    assert set(found["diagnostics"]) == {"own_clip", "reversal"}
    assert len(found["parts"]) == 4


def test_an_item_needs_what_the_least_rung_that_solves_it_shows():
    credit = {
        #                      words, other, frame, shuffled, order, none, tie, unknown
        "no_clip": np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, np.nan]),
        "other_clip": np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        "middle_frame": np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        "best_frame": np.zeros(8),
        "shuffled": np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        "full": np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.5, 1.0]),
    }
    assert levels_of([credit]).tolist() == [1, 1, 2, 3, 4, 0, 0, -1]
    # A second model that solves the last known items, from a frame and by order.
    other = {rung: np.zeros(8) for rung in credit}
    other["full"] = np.ones(8)
    other["best_frame"] = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert levels_of([credit, other]).tolist() == [1, 1, 2, 3, 4, 2, 4, -1]


def test_luck_of_several_models_is_what_guesses_give():
    assert luck(np.array([0.5, 0.2]), 3) == pytest.approx([0.875, 0.488])
    random = np.random.default_rng(0)
    blind = [{rung: (random.random(4000) < 0.5).astype(float) for rung in LEVEL_OF_RUNG} for _ in range(3)]
    chance = np.full(4000, 0.5)
    found = of_models(blind, chance, [str(at) for at in range(4000)], draws=DRAWS)
    assert found["luck"] == 0.875
    assert all(abs(row["share"] - 0.875) < 0.02 for row in found["rungs"].values())
    only_full = (levels_of([{"full": m["full"], "no_clip": m["no_clip"]} for m in blind]) >= 2).mean()
    assert only_full == pytest.approx(lucky(chance, 3)[0], abs=0.02)
    assert (levels_of(blind) >= 4).mean() < only_full / 2


def test_nothing_is_computed_without_items():
    data = LadderScores({"full": np.array([np.nan]), "no_clip": np.array([1.0])}, np.array([0.5]), ["a"])
    found = compute(data)
    assert (found["n"], found["parts"], found["rungs"]) == (0, [], {})
    assert of_models([data.credit], data.chance, ["a"])["rungs"] == {}


@pytest.mark.parametrize(("n", "too_few"), [(ladder.MIN_ITEMS - 1, True), (ladder.MIN_ITEMS, False)])
def test_from_twenty_items_on_a_benchmark_has_a_ladder_with_intervals(n, too_few):
    data = planted(0)
    credit = {rung: values[:n] for rung, values in data.credit.items()}
    assert of_models([credit], data.chance[:n], data.clusters[:n], draws=DRAWS)["too_few"] == too_few
    (first, *_rest) = compute(LadderScores(credit, data.chance[:n], data.clusters[:n]), draws=DRAWS)["parts"]
    assert {"value", "ci", "p", "share", "share_ci", "say"} <= first.keys()
