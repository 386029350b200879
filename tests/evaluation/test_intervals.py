"""Intervals by hand, and what they are drawn from: releases are verified by computing them again."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.metrics import intervals as _intervals
from evaluation.metrics.intervals import (
    DRAWS,
    bootstrap,
    cluster_sums,
    mean,
    mean_intervals,
    percentiles,
    resampled_sums,
    t_interval,
    wilson,
)
from tests.evaluation.builders import choice_scores

# Four rows of two values, and eight: so many equal ones that a draw is one multinomial.
DIFFERENT = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [4.0, 2.0]])
ALIKE = np.array([[0.0, 1.0]] * 5 + [[1.0, 1.0]] * 3)


def test_values_are_added_up_by_cluster_in_the_order_of_their_names():
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert cluster_sums(values, ["b", "a", "b"]).tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert cluster_sums(values, [10, 2, 10]).tolist() == [[6.0, 8.0], [3.0, 4.0]]
    assert cluster_sums(values, None) is values


@pytest.mark.parametrize(
    ("rows", "seed", "drawn"),
    [
        (DIFFERENT, 0, [[9.0, 5.0], [1.0, 4.0], [10.0, 6.0]]),
        (DIFFERENT, 1, [[11.0, 6.0], [8.0, 6.0], [6.0, 5.0]]),
        (ALIKE, 0, [[3.0, 8.0], [2.0, 8.0], [1.0, 8.0]]),
        (ALIKE, 1, [[3.0, 8.0], [5.0, 8.0], [2.0, 8.0]]),
    ],
)
def test_a_seed_always_draws_the_same(rows, seed, drawn):
    assert resampled_sums(rows, draws=3, seed=seed).tolist() == drawn


@pytest.mark.parametrize("rows", [DIFFERENT, ALIKE])
@pytest.mark.parametrize("block", [1, 32 * 4 * 2, 32 * 4 * 7])
def test_small_blocks_draw_the_same(rows, block, monkeypatch):
    whole = resampled_sums(rows, draws=50)
    monkeypatch.setattr(_intervals, "BLOCK_BYTES", block)
    assert (resampled_sums(rows, draws=50) == whole).all()


@pytest.mark.parametrize("rows", [DIFFERENT, ALIKE])
def test_a_draw_takes_n_rows_with_equal_probability(rows):
    counted = np.column_stack([rows, np.ones(len(rows))])
    sums = resampled_sums(counted, draws=4000)
    assert (sums[:, 2] == len(rows)).all()
    error = rows.std(axis=0) * math.sqrt(len(rows) / 4000)
    assert (np.abs(sums[:, :2].mean(axis=0) - rows.sum(axis=0)) <= 4 * error).all()
    assert sums[:, 0].std() == pytest.approx(rows[:, 0].std() * math.sqrt(len(rows)), rel=0.05)


def test_rows_that_differ_by_the_order_of_addition_alone_are_one():
    rows = np.array([[0.1 + 0.2]] * 3 + [[0.3]] * 5)
    assert np.ptp(resampled_sums(rows, draws=20)) < 1e-12


def test_without_a_number_of_draws_there_are_ten_thousand():
    assert len(resampled_sums(ALIKE)) == DRAWS == 10_000


def test_percentiles_leave_half_of_the_rest_outside_on_each_side():
    values = np.arange(1001.0)
    assert percentiles(values) == pytest.approx([25.0, 975.0])
    assert percentiles(values, level=0.9) == pytest.approx([50.0, 950.0])
    assert percentiles(np.array([np.nan, np.inf, 1.0, 3.0]), level=0.5) == [1.5, 2.5]
    assert percentiles(np.array([np.nan])) is None
    assert percentiles(np.array([7.0])) == [7.0, 7.0]


def test_a_bootstrap_is_the_percentiles_of_the_statistic_over_draws():
    def ratio(sums):
        return sums[:, 0] / sums[:, 1]

    drawn = ratio(resampled_sums(DIFFERENT, draws=70, seed=3))
    assert bootstrap(DIFFERENT, ratio, draws=70, seed=3, level=0.8) == percentiles(drawn, level=0.8)
    assert bootstrap(DIFFERENT, ratio, draws=70, seed=4, level=0.8) != percentiles(drawn, level=0.8)
    assert bootstrap(DIFFERENT[:2], ratio, draws=70) is not None
    assert bootstrap(DIFFERENT[:1], ratio, draws=70) is None


def test_means_of_columns_share_their_draws():
    values = np.array([[0.0, 3.0], [1.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    names = ["v", "v", "w", "x"]
    sums = resampled_sums(cluster_sums(np.column_stack([values, np.ones(4)]), names), draws=60, seed=5)
    expected = [percentiles(sums[:, column] / sums[:, 2]) for column in (0, 1)]
    assert mean_intervals(values, names, draws=60, seed=5) == expected
    assert mean_intervals(values, names, draws=60, seed=6) != expected
    assert mean_intervals(values, ["v"] * 4, draws=60) == [None, None]
    assert mean_intervals(values, ["v", "v", "v", "w"], draws=60) != [None, None]


def test_the_t_interval_of_clusters_by_hand():
    # Sums 1 of 2 and 2 of 2, mean 3/4: residuals -1/2 and 1/2, error sqrt((1/4 + 1/4) * 2/1) / 4 = 1/4; t(1) at 97.5 %.
    values, names = np.array([1.0, 0.0, 1.0, 1.0]), ["v", "v", "w", "w"]
    reach, wide = stats.t.ppf(0.975, 1) / 4, (-9.0, 9.0)
    assert t_interval(values, names, bounds=wide) == pytest.approx([0.75 - reach, 0.75 + reach])
    assert t_interval(values, names, level=0.5) == pytest.approx([0.5, 1.0])
    assert t_interval(values, ["v"] * 4) is None
    # Without clusters it is the interval of a mean: .75 and sqrt(3/16 / 3) with 3 degrees.
    reach = stats.t.ppf(0.975, 3) * 0.25
    assert t_interval(values, None, bounds=wide) == pytest.approx([0.75 - reach, 0.75 + reach])
    assert t_interval(values, None) == [0.0, 1.0]


@pytest.mark.parametrize("n", [2, 4, 10, 300])
def test_with_all_right_the_interval_equals_that_of_clopper_and_pearson(n):
    exact = stats.binomtest(n, n).proportion_ci(method="exact")
    for found in (t_interval(np.ones(n), None), mean_intervals(np.ones((n, 1)), None, draws=9)[0]):
        assert found == pytest.approx([exact.low, exact.high])
    for found in (t_interval(np.zeros(n), None), mean_intervals(np.zeros((n, 1)), None, draws=9)[0]):
        assert found == pytest.approx([1 - exact.high, 1 - exact.low])


def test_unseen_videos_may_be_at_either_bound():
    unseen = 1 - 0.025 ** (1 / 2)
    halves = t_interval(np.array([1.0, 0.0, 0.5, 0.5]), list("vvww"))
    assert halves == pytest.approx([0.5 * (1 - unseen), 0.5 * (1 - unseen) + unseen])


def test_values_other_than_shares_have_their_own_bounds_or_none():
    ranks = np.full((4, 2), 3.0)
    bounded, free = mean_intervals(ranks, None, bounds=[(1.0, 6.0), None], draws=9)
    unseen = 1 - 0.025 ** (1 / 4)
    assert bounded == pytest.approx([3 * (1 - unseen) + unseen, 3 * (1 - unseen) + 6 * unseen])
    assert free == [3.0, 3.0]


def test_wilsons_interval_by_hand():
    # Wilson 1927: 8 of 10 is .4902 to .9433; 0 of 10 ends at z^2 / (10 + z^2) = .2775.
    assert wilson(8, 10) == pytest.approx([0.4902, 0.9433], abs=1e-4)
    assert wilson(0, 10) == pytest.approx([0.0, 0.2775], abs=1e-4)
    assert wilson(10, 10) == pytest.approx([0.7225, 1.0], abs=1e-4)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(1, 1) == pytest.approx([0.2065, 1.0], abs=1e-4)
    # A level of .6827 is one standard deviation: z = 1.
    one = 2 * stats.norm.cdf(1) - 1
    assert wilson(5, 10, level=one) == pytest.approx([0.5 - math.sqrt(1 / 44), 0.5 + math.sqrt(1 / 44)])
    assert wilson(0, 0) is None


def test_a_mean_is_rounded_once():
    assert mean(np.array([1e16, 1.0, -1e16, 2.0])) == 0.75


def test_missing_records_are_reported():
    with pytest.raises(EvaluationError, match=r"^there are no scored records; give at least one$"):
        choice_scores([]).refuse_nothing()
    assert choice_scores([[1.0, 0.0]]).refuse_nothing() is None


def test_drawing_videos_covers_the_truth_and_drawing_items_does_not():
    """200 videos of five items that share their video's hardness, Beta(1.4, .6): mean .7, intraclass correlation .33.

    Of 95 % intervals some 95 of 100 hold the mean where videos are drawn, and some 80 where items are.
    """
    generator, worlds = np.random.default_rng(0), 150
    clusters = [f"v{video}" for video in range(200) for _ in range(5)]
    held = np.zeros(4)
    for world in range(worlds):
        right = (generator.random(1000) < np.repeat(generator.beta(1.4, 0.6, 200), 5)).astype(np.float64)
        drawn = [mean_intervals(right[:, None], by, draws=200, seed=world)[0] for by in (clusters, None)]
        intervals = [*drawn, *(t_interval(right, by) for by in (clusters, None))]
        held += [low <= 0.7 <= high for low, high in intervals]
    by_video, by_item, t_by_video, t_by_item = held / worlds
    assert 0.92 <= by_video <= 0.98
    assert 0.92 <= t_by_video <= 0.98
    assert max(by_item, t_by_item) < 0.86
