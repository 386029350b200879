"""The gap between the public and the private items of a release: its interval, and a model that learnt one part."""

import numpy as np
import pytest

from evaluation.metrics.gap import difference_interval, gap


def test_the_interval_of_a_difference_is_newcombes():
    """Newcombe 1998, Table II (a), method 10: 56/70 - 48/80 is .2, 95 % from .0524 to .3339."""
    found = difference_interval(0.8, (0.6920, 0.8769), 0.6, (0.4904, 0.7004))
    assert found == pytest.approx([0.0524, 0.3339], abs=2e-4)


def test_without_items_or_with_one_source_there_is_no_interval():
    values, none = np.array([1.0, 0.0]), np.array([np.nan, np.nan])
    assert gap(values, ["a", "b"], none, ["c", "d"]) is None
    found = gap(values, ["a", "b"], values, ["c", "c"])
    assert (found["gap"], found["gap_ci"], found["differs"]) == (0.0, None, False)


def test_a_model_that_learnt_the_public_part_shows_it_and_an_honest_one_does_not():
    """200 seeds: 400 items on 200 sources whose difficulty varies, 20 % private; the learner knows 9 of 10."""
    honest, learnt = ([world(seed, known) for seed in range(200)] for known in (0.0, 0.9))
    assert sum(one["differs"] for one in honest) <= 20
    assert abs(np.mean([one["gap"] for one in honest])) < 0.01
    assert sum(one["differs"] and one["gap"] > 0 for one in learnt) >= 198
    assert np.mean([one["gap"] for one in learnt]) == pytest.approx(0.27, abs=0.02)


def world(seed: int, known: float) -> dict:
    random = np.random.default_rng(seed)
    ease = np.clip(random.normal(0.7, 0.15, 200), 0, 1).repeat(2)
    right, names = (random.random(400) < ease).astype(float), [f"v{k // 2}" for k in range(400)]
    right[:320][random.random(320) < known] = 1.0
    return gap(right[:320], names[:320], right[320:], names[320:])


def test_items_that_do_not_count_are_left_out_with_their_sources():
    values = np.array([1.0, np.nan, 0.0, 1.0])
    found = gap(values, ["a", "b", "c", "d"], np.array([1.0, 0.0]), ["e", "f"])
    assert (found["n_public"], found["public"]) == (3, pytest.approx(2 / 3))
    alone = gap(values[[0, 2, 3]], ["a", "c", "d"], np.array([1.0, 0.0]), ["e", "f"])
    assert found["public_ci"] == alone["public_ci"]
