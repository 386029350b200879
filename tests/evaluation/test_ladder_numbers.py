"""The parts of a score by rung: a hand-made example, exact sums, a planted benchmark taken apart over many seeds."""

import numpy as np
import pytest

from evaluation.metrics import ladder
from evaluation.metrics.ladder import LadderScores, compute
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
    assert [(part["parts"], part["value"]) for part in found["parts"]] == [
        (["words"], 0.0),
        (["picture"], 0.25),
        (["frames"], 0.0),
        (["order"], 0.25),
    ]
    assert found["too_few"]
    assert {part["say"] for part in found["parts"]} == {ladder.TOO_FEW}
    assert [row["drop"] for row in found["rungs"].values()] == [0.5, 0.25, 0.25, None]


@pytest.mark.parametrize("left_out", [(), ("no_clip",), ("best_frame",), ("best_frame", "shuffled"), ("shuffled",)])
def test_parts_sum_to_the_score_above_chance_and_join_where_a_rung_is_missing(left_out):
    rungs = [rung for rung in LEVEL_OF_RUNG if rung not in left_out]
    found = compute(planted(3, rungs=rungs), draws=DRAWS)
    total = sum(part["value"] for part in found["parts"])
    assert total == pytest.approx(found["rungs"]["full"]["T"] - found["chance"], abs=1e-12)
    assert [name for part in found["parts"] for name in part["parts"]] == ["words", "picture", "frames", "order"]
    assert len(found["parts"]) == 4 - len(left_out)


def test_only_items_that_all_rungs_scored_count():
    data = planted(1)
    data.credit["shuffled"][:40] = np.nan
    found = compute(data, draws=DRAWS)
    assert (found["n"], found["n_left_out"]) == (200, 40)


def test_sentences_follow_the_corrected_p():
    said = [ladder.said(value, p, 100) for value, p in ((0.1, 0.01), (0.1, 0.2), (-0.1, 0.01), (None, 1.0))]
    assert said == ["needs", "nothing", "costs", "too_few"]
    assert ladder.said(0.1, 0.01, 19) == "too_few"


def test_parts_of_guesses_are_declared_rarely_although_there_are_four():
    random = np.random.default_rng(5)
    declared = 0
    for _ in range(100):
        credit = {rung: (random.random(100) < 0.5).astype(float) for rung in LEVEL_OF_RUNG}
        found = compute(LadderScores(credit, np.full(100, 0.5), list(map(str, range(100)))), draws=DRAWS)
        declared += any(part["say"] in ("needs", "costs") for part in found["parts"])
    assert declared <= 8


def test_diagnostics_are_outside_of_the_sum():
    rungs = {**LEVEL_OF_RUNG, "other_clip": 1, "reversed": 3}
    found = compute(planted(2, rungs=rungs), draws=DRAWS)
    assert set(found["diagnostics"]) == {"own_clip", "reversal"}
    assert len(found["parts"]) == 4


def test_nothing_is_computed_without_items():
    data = LadderScores({"full": np.array([np.nan]), "no_clip": np.array([1.0])}, np.array([0.5]), ["a"])
    found = compute(data)
    assert (found["n"], found["parts"], found["rungs"]) == (0, [], {})


@pytest.mark.parametrize(("n", "too_few"), [(ladder.MIN_ITEMS - 1, True), (ladder.MIN_ITEMS, False)])
def test_from_twenty_items_on_a_score_has_parts_with_sentences(n, too_few):
    data = planted(0)
    credit = {rung: values[:n] for rung, values in data.credit.items()}
    found = compute(LadderScores(credit, data.chance[:n], data.clusters[:n]), draws=DRAWS)
    assert found["too_few"] == too_few
    assert {part["say"] == "too_few" for part in found["parts"]} == {too_few}
