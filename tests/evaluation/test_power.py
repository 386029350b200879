"""Power of a comparison of models: against simulated studies, and against the formula of the leaderboard."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import special

from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import items_to_separate
from evaluation.metrics.power import Design, check, curve, items_needed, power

STUDIES = 2000


def shown(design: Design, items: int, rng) -> float:
    """Return the share of simulated studies whose t test over videos rejects; each video has all of its items alike
    with the probability `similarity`, so that two of its items have this correlation."""
    videos, each = round(items / design.items_per_video), round(design.items_per_video)
    differ = 1.0 - design.agreement
    chances = [(differ - design.difference) / 2, design.agreement, (differ + design.difference) / 2]
    drawn = rng.choice([-1.0, 0.0, 1.0], p=chances, size=(STUDIES, videos, each))
    same = rng.random((STUDIES, videos)) < design.similarity
    drawn = np.where(same[:, :, None], drawn[:, :, :1], drawn).mean(axis=2)
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(videos))
    p = 2 * special.stdtr(videos - 1, -np.abs(t))
    return float((p < design.alpha).mean())


@pytest.mark.parametrize(
    ("design", "items"),
    [
        (Design(0.05, 0.8), 400),
        (Design(0.05, 0.8), 630),
        (Design(0.1, 0.7, models=5), 250),
        (Design(0.08, 0.75, items_per_video=4, similarity=0.3), 600),
    ],
)
def test_power_equals_that_of_simulated_studies(design: Design, items: int) -> None:
    expected = power(design, items)
    error = np.sqrt(expected * (1 - expected) / STUDIES)
    assert shown(design, items, np.random.default_rng(0)) == pytest.approx(expected, abs=3.5 * error + 0.01)


def test_needed_items_agree_with_the_formula_of_the_leaderboard() -> None:
    # 1000 items: 125 only A, 75 only B; the difference is .05 and the models agree on .8.
    a = np.array([1.0] * 125 + [0.0] * 75 + [1.0] * 800)
    b = np.array([0.0] * 125 + [1.0] * 75 + [1.0] * 800)
    assert items_needed(Design(0.05, 0.8)) == pytest.approx(items_to_separate(a, b, None), abs=4)


def test_more_models_smaller_differences_and_shared_videos_need_more_items() -> None:
    plain = items_needed(Design(0.05, 0.8))
    assert items_needed(Design(0.05, 0.8, models=5)) > plain
    assert items_needed(Design(0.03, 0.8)) > 2 * plain
    # 1 + (4 - 1) * .3 = 1.9 times as many.
    assert items_needed(Design(0.05, 0.8, items_per_video=4, similarity=0.3)) == pytest.approx(1.9 * plain, rel=0.02)
    assert power(Design(0.05, 0.8), plain) >= 0.8 > power(Design(0.05, 0.8), plain - 1)
    assert power(Design(0.5, 0.3), 3) == 0.0


def test_curves_rise() -> None:
    points = curve(Design(0.05, 0.8), 1200, points=10)
    assert [items for items, _ in points] == [120 * k for k in range(1, 11)]
    assert all(low < high for (_, low), (_, high) in pairwise(points))


@pytest.mark.parametrize(
    ("design", "named"),
    [
        (Design(0.05, 0.8, models=1), "models"),
        (Design(0.0, 0.8), "difference"),
        (Design(0.05, 1.0), "model_agreement"),
        (Design(0.3, 0.8), "model_agreement"),
        (Design(0.05, 0.8, similarity=2.0), "similarity"),
        (Design(0.05, 0.8, items_per_video=0.5), "items_per_video"),
    ],
)
def test_impossible_designs_name_the_wrong_value(design: Design, named: str) -> None:
    with pytest.raises(EvaluationError, match=named):
        check(design)


def test_power_and_difference_out_of_reach_are_refused() -> None:
    with pytest.raises(EvaluationError, match="power"):
        items_needed(Design(0.05, 0.8), 1.0)
    with pytest.raises(EvaluationError, match="larger difference"):
        items_needed(Design(0.0001, 0.8))
