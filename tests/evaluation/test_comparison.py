"""Two models on the same items, by hand and against statsmodels."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from evaluation.metrics.comparison import (
    bootstrap_p,
    holm,
    items_to_separate,
    mcnemar,
    paired_difference,
    pairwise_tests,
    tied_groups,
)
from evaluation.metrics.intervals import t_interval

quick = settings(max_examples=60, deadline=None)
DRAWS = 2000


def credits(*values):
    return np.array(values, dtype=np.float64)


class TestPairedDifference:
    def test_by_hand(self):
        # Differences 1, 0, 0, 1, -1, 0 four times over 24 videos: mean 1/6, sum of squares 12, so that the error is
        # sqrt((12 - 24/36) * 24/23) / 24 = .1433.
        a, b = np.tile(credits(1, 1, 0, 1, 0, 1), 4), np.tile(credits(0, 1, 0, 0, 1, 1), 4)
        found = paired_difference(a, b, None, draws=DRAWS)
        assert found.value == pytest.approx(1 / 6)
        error = np.sqrt((12 - 24 / 36) * 24 / 23) / 24
        reach = stats.t.ppf(0.975, 23) * error
        assert found.t_ci == pytest.approx([1 / 6 - reach, 1 / 6 + reach])
        assert found.p_t == pytest.approx(2 * stats.t.sf((1 / 6) / error, 23))
        assert (found.n, found.n_clusters, found.exact) == (24, 24, False)

    def test_without_clusters_it_is_the_paired_t_test(self):
        generator = np.random.default_rng(1)
        a, b = generator.random(40), generator.random(40)
        assert paired_difference(a, b, None, draws=50).p_t == pytest.approx(stats.ttest_rel(a, b).pvalue)

    def test_whole_videos_are_drawn_so_that_copies_of_an_item_say_nothing_new(self):
        generator = np.random.default_rng(2)
        a, b = generator.integers(0, 2, 60).astype(float), generator.integers(0, 2, 60).astype(float)
        once = paired_difference(a, b, [f"v{k}" for k in range(60)], draws=DRAWS)
        twice = paired_difference(np.repeat(a, 2), np.repeat(b, 2), [f"v{k // 2}" for k in range(120)], draws=DRAWS)
        assert twice.t_ci == pytest.approx(once.t_ci)
        assert twice.ci == pytest.approx(once.ci)
        blind = paired_difference(np.repeat(a, 2), np.repeat(b, 2), None, draws=DRAWS)
        assert blind.ci[1] - blind.ci[0] < 0.8 * (once.ci[1] - once.ci[0])

    def test_the_interval_is_that_of_the_differences(self):
        a, b = np.tile(credits(1, 1, 0, 1, 0, 1), 8), np.tile(credits(0, 1, 0, 0, 1, 1), 8)
        videos = [f"v{k // 2}" for k in range(48)]
        found = paired_difference(a, b, videos, draws=50)
        assert found.t_ci == pytest.approx(t_interval(a - b, videos, bounds=(-1.0, 1.0)))

    def test_items_that_one_of_them_did_not_score_are_left_out(self):
        found = paired_difference(credits(1, np.nan, 1, 0), credits(0, 1, np.nan, 0), list("abcd"), draws=50)
        assert (found.value, found.n) == (0.5, 2)
        nothing = paired_difference(credits(np.nan), credits(1), ["a"])
        assert (nothing.value, nothing.ci, nothing.n) == (None, None, 0)

    def test_one_video_gives_no_interval(self):
        found = paired_difference(credits(1, 0), credits(0, 0), ["v", "v"], draws=50)
        assert (found.value, found.ci, found.t_ci, found.p) == (0.5, None, None, None)

    def test_equal_models_have_p_one(self):
        a = credits(1, 0, 1, 0)
        found = paired_difference(a, a, None, draws=DRAWS)
        # None of four differs, so at most 1 - .025^(1/4) of all do.
        unseen = 1 - 0.025**0.25
        assert (found.value, found.p, found.p_t, found.exact) == (0, 1, 1, True)
        assert found.ci == pytest.approx([-unseen, unseen])

    def test_bootstrap_p_by_hand(self):
        # 1 draw of 9 at or below zero: 2 (1 + 1) / 10.
        assert bootstrap_p(np.array([-1.0, 1, 1, 1, 1, 1, 1, 1, 1])) == pytest.approx(0.4)

    @quick
    @given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=25))
    def test_swapping_the_models_turns_the_sign(self, pairs):
        a, b = np.array(pairs, dtype=float).T
        straight, turned = (paired_difference(x, y, None, draws=200) for x, y in ((a, b), (b, a)))
        assert turned.value == pytest.approx(-straight.value)
        assert turned.p_t == pytest.approx(straight.p_t)


class TestMcNemar:
    def test_by_hand(self):
        # Only A right on 1 item, only B on 8: 2 (1 + 9) / 512.
        a = credits(*[1] * 3, 1, *[0] * 8, *[0] * 2)
        b = credits(*[1] * 3, 0, *[1] * 8, *[0] * 2)
        found = mcnemar(a, b)
        assert (found.both, found.only_a, found.only_b, found.neither) == (3, 1, 8, 2)
        assert found.p == pytest.approx(20 / 512)

    @quick
    @given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
    def test_it_is_statsmodels_exact_test(self, pairs):
        a, b = np.array(pairs, dtype=float).T
        table = [[((a == x) & (b == y)).sum() for y in (1, 0)] for x in (1, 0)]
        assert mcnemar(a, b).p == pytest.approx(float(statsmodels_mcnemar(table, exact=True).pvalue))

    def test_parts_of_a_credit_are_left_out_and_counted(self):
        found = mcnemar(credits(0.5, 1, 1), credits(1, 0, np.nan))
        assert (found.n_partial, found.only_a, found.p) == (1, 1, 1.0)
        assert mcnemar(credits(0.5), credits(0.5)).p is None


@pytest.fixture(scope="module")
def quiet_heap():
    """statsmodels looks for garbage at each call: through what is made from now on, not through all there is."""
    gc.collect()
    gc.freeze()


class TestHolm:
    def test_by_hand(self):
        assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
        assert holm([]) == []

    @quick
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    def test_it_is_statsmodels_holm(self, quiet_heap, values):
        assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


class TestManyModels:
    def test_pairs_are_the_paired_tests_under_holm(self):
        generator = np.random.default_rng(3)
        scores = (generator.random((4, 90)) < np.array([[0.9], [0.7], [0.65], [0.2]])).astype(float)
        scores[2, :5] = np.nan
        clusters = [f"v{k // 3}" for k in range(90)]
        found = pairwise_tests(scores, clusters)
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        plain = [paired_difference(scores[i], scores[j], clusters, draws=10).p_t for i, j in pairs]
        assert [found[i, j] for i, j in pairs] == pytest.approx(holm(plain))
        assert (found == found.T).all()
        assert (np.diag(found) == 1).all()

    def test_groups_by_hand(self):
        p = np.array([[1, 0.6, 0.01], [0.6, 1, 0.2], [0.01, 0.2, 1]])
        assert tied_groups(p) == [1, 1, 2]
        assert tied_groups(np.ones((3, 3))) == [1, 1, 1]
        assert tied_groups(np.ones((0, 0))) == []

    def test_models_without_a_shared_item_cannot_be_told_apart(self):
        p = pairwise_tests(np.array([[1.0, np.nan], [np.nan, 0.0]]), None)
        assert p[0, 1] == 1


class TestPower:
    def test_by_hand(self):
        # Gaps 1, 0, 0, 1, -1, 0: error .3073 at n = 6, gap 1/6, z = 1.95996 + .84162.
        a, b = credits(1, 1, 0, 1, 0, 1), credits(0, 1, 0, 0, 1, 1)
        error = np.sqrt((3 - 1 / 6) * 6 / 5) / 6
        expected = 6 * ((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error * 6) ** 2
        assert items_to_separate(a, b, None) == np.ceil(expected)

    def test_it_is_near_statsmodels_power_of_the_paired_t_test(self):
        generator = np.random.default_rng(5)
        a = (generator.random(400) < 0.70).astype(float)
        b = (generator.random(400) < 0.64).astype(float)
        gap = a - b
        wanted = TTestPower().solve_power(effect_size=gap.mean() / gap.std(ddof=1), alpha=0.05, power=0.8)
        assert items_to_separate(a, b, None) == pytest.approx(wanted, rel=0.03)

    def test_no_difference_has_no_number(self):
        assert items_to_separate(credits(1, 0), credits(1, 0), None) is None
        assert items_to_separate(credits(np.nan), credits(1), None) is None
