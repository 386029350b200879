"""The exact test and interval of few clusters, against counting by hand and against scipy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.comparison import mcnemar, paired_difference
from evaluation.metrics.exact import clusters_needed, sign_flip_p, subset_interval

quick = settings(max_examples=40, deadline=None)


def counted(gaps):
    """All patterns of signs, one by one."""
    patterns = [
        abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)))
        for signs in product((1, -1), repeat=len(gaps))
    ]
    return sum(total >= abs(sum(gaps)) - 1e-9 for total in patterns) / len(patterns)


@quick
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 0.5, 1.0, 2.0]), min_size=1, max_size=9))
def test_every_pattern_of_signs_counts_once(gaps):
    assert sign_flip_p(np.array(gaps)) == pytest.approx(counted(gaps))


def test_it_is_scipys_permutation_test():
    gaps = np.random.default_rng(4).normal(0.4, 1, 11)
    found = stats.permutation_test(
        (gaps, -gaps), lambda a, b: a.sum() - b.sum(), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p(gaps) == pytest.approx(found.pvalue)


@quick
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=19))
def test_with_one_item_per_video_it_equals_mcnemars_exact_test(pairs):
    a, b = np.array(pairs, dtype=float).T
    assert paired_difference(a, b, None).p == pytest.approx(mcnemar(a, b).p)


@quick
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), min_size=6, max_size=11))
def test_the_interval_contains_what_the_test_does_not_reject(rows):
    table = np.array(rows, dtype=float)
    low, high = subset_interval(table)
    for edge, outward in ((low, -1e-6), (high, 1e-6)):
        assert sign_flip_p(table[:, 0] - (edge + outward) * table[:, 1]) <= 0.05
        assert sign_flip_p(table[:, 0] - (edge - outward) * table[:, 1]) > 0.05 - 2.0 ** (2 - len(rows)) or low == high


def test_five_clusters_reject_nothing_and_six_may():
    assert subset_interval(np.array([[1.0, 1.0], [0.5, 1.0]] * 2 + [[1.0, 1.0]])) is None
    assert subset_interval(np.array([[1.0, 1.0], [0.5, 1.0]] * 3)) == [0.5, 1.0]
    assert [clusters_needed(alpha) for alpha in (0.05, 0.01, 0.2)] == [6, 8, 4]
