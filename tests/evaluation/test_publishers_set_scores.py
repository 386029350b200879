"""Scores of sets against what the publishers' own code gave for the same made-up answers, recorded to nine decimals.

Code: `compute_metrics` of tasks/mvp/utils.py (facebookresearch/minimal_video_pairs 149e336), `get_scores` of utils.py
(Baiqi-Li/TimeBlind 644fdf4), get_score_all.py (Vinoground/Vinoground 1543a2a), `cal_relevance` and `cal_logic` of
evaluation/test_video_mme_v2.py (MME-Benchmarks/Video-MME-v2 b24176a). Chance and luck: the mean of its scores over all
outcomes of a set, weighted by their probability.
"""

import numpy as np
import pytest

from evaluation.metrics.sets import SetAnswers, compute

N_SETS, SEED = 400, 313
PAIR = [{"question": "1", "clip": clip} for clip in "12"]
INSTANCE = [{"question": question, "clip": clip} for question in "01" for clip in "01"]
PARTS = [{"part": part} for part in ("text", "text", "video", "video")]
# Places of the answers of a set, chance of an answer; value: the publisher's score, chance and luck.
CASES = {
    "MVP": (PAIR, 1 / 2, {"accuracy": (0.49625, 0.5, 0.49625), "group": (0.3375, 0.25, 0.246264063)}),
    "TimeBlind": (
        INSTANCE,
        1 / 2,
        {
            "accuracy": (0.474375, 0.5, 0.474375),
            "question": (0.32375, 0.25, 0.225031641),
            "clip": (0.31875, 0.25, 0.225031641),
            "group": (0.1975, 0.0625, 0.050639239),
        },
    ),
    "consistency": ([{"structure": "consistency"}] * 4, 1 / 8, {"score": (0.41765625, 0.04296875, 0.354362793)}),
    "chain": ([{"structure": "[1,2,3,4]"}] * 4, 1 / 8, {"score": (0.26390625, 0.011459351, 0.155842569)}),
    "parallel 2, 3": ([{"structure": "[1,[2,3],4]"}] * 4, 1 / 8, {"score": (0.26625, 0.018330892, 0.183943286)}),
    "parallel 1, 2": ([{"structure": "[[1,2],3,4]"}] * 4, 1 / 8, {"score": (0.31675, 0.025708008, 0.186856934)}),
    # Its code counts no guesses.
    "Vinoground": (PARTS, 1 / 2, {"text": (0.3475,), "video": (0.3425,), "group": (0.2125,)}),
}


def answers():
    """Return the rights of each case, (400, k): every set has its own accuracy."""
    draw = np.random.default_rng(SEED)
    return {name: draw.random((N_SETS, len(case[0]))) < draw.random((N_SETS, 1)) for name, case in CASES.items()}


def scored(rights, places, chance):
    at = [(number, place) for number in range(len(rights)) for place in places]

    def column(name):
        return [place.get(name, "") for _number, place in at]

    names = [str(number) for number, _place in at]
    data = SetAnswers(
        ids=[str(number) for number in range(len(at))],
        right=rights.astype(float).ravel(),
        sets=names,
        clips=column("clip"),
        questions=column("question"),
        parts=column("part"),
        structures=column("structure"),
        chance=np.full(len(at), chance),
        subtests=[""] * len(at),
        clusters=names,
    )
    return compute(data, draws=1)["overall"]


@pytest.mark.parametrize("name", CASES)
def test_scores_chance_and_luck_are_those_of_the_publishers_code(name):
    places, chance, expected = CASES[name]
    found = scored(answers()[name], places, chance)
    ours = {value: (found[value], found["chance"][value], found["luck"][value]) for value in expected}
    for value, theirs in expected.items():
        assert ours[value][: len(theirs)] == pytest.approx(theirs, abs=1e-9), value
