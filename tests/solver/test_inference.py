"""Verdicts, intervals and corrections of the blind solver, against values by hand."""

import numpy as np
import pytest

from foilworks.core.solver.inference import block_interval, holm, resampled_interval, verdict_of


@pytest.mark.parametrize(
    ("value", "interval", "is_certified", "verdict"),
    [
        (0.60, (0.56, 0.64), False, "fail"),
        (0.52, (0.48, 0.56), False, "nothing_found_so_far"),
        (0.52, (0.48, 0.56), True, "nothing_found"),
        (0.40, (0.36, 0.44), True, "reversed"),
        (0.56, (0.52, 0.60), True, "cannot_tell"),
        (0.55, (0.49, 0.61), True, "cannot_tell"),
    ],
)
def test_a_verdict_follows_from_interval_and_chance(value, interval, is_certified, verdict):
    assert verdict_of(value, interval, 0.5, 400, 0.01, is_certified)[0] == verdict


def test_the_number_of_items_that_would_decide():
    # 6 points above chance, half width 4: a half width of 1 needs 16 times the items.
    assert verdict_of(0.56, (0.52, 0.60), 0.5, 400, 0.01, True) == ("cannot_tell", "interval", 6400)
    # 2 points above chance, half width 10: below 8 points, nothing is found.
    assert verdict_of(0.52, (0.42, 0.62), 0.5, 100, 0.01, True) == ("cannot_tell", "interval", 157)
    # Surely above chance, and not by 5 points: more items change nothing.
    assert verdict_of(0.55, (0.51, 0.59), 0.5, 400, 0.01, True) == ("cannot_tell", "interval", None)
    assert verdict_of(0.9, (0.7, 1.0), 0.5, 400, 0.3, True) == ("cannot_tell", "group", None)
    assert verdict_of(0.7, (0.5, 0.9), 0.5, 40, 0.1, True) == ("cannot_tell", "wide", 72)


def test_an_interval_is_wilsons_and_blocks_widen_it():
    credits = np.array([1.0] * 60 + [0.0] * 40)
    value, (low, high) = block_interval(credits, np.arange(100), inflation=1.0)
    # 60 of 100 (Wilson 1927).
    assert (value, low, high) == (0.6, pytest.approx(0.5020, abs=1e-4), pytest.approx(0.6906, abs=1e-4))
    _, blocked = block_interval(credits, np.arange(100) // 10, inflation=1.0)
    assert blocked[0] < low < high < blocked[1]
    value, (low, high) = block_interval(np.ones(50), np.arange(50), inflation=1.0)
    assert (value, high) == (1.0, 1.0)
    assert low == pytest.approx(0.9287, abs=1e-4)


def test_holm_corrects_in_order():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_the_resampled_variance_adds_the_overlap_of_training_items():
    values = np.array([0.5, 0.6, 0.5, 0.6])
    low, high = resampled_interval(values, 0.2, 0.55)
    # Variance of folds 1/300; (1/4 + 1/4) of it; t of 3 degrees of freedom is 3.182.
    assert (high - low) / 2 == pytest.approx(3.18245 * np.sqrt(0.5 / 300), rel=1e-4)
