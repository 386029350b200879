"""Counts of foils, drawn in proportion to a weight."""

from collections import Counter
from random import Random

import pytest

from generation.methods._number_quotas import Counted, drawn_by_quota


def counted(values: list[int], allowed: set[int]) -> list[Counted]:
    return [Counted(f"c{n:03}", value, frozenset(allowed - {value})) for n, value in enumerate(values)]


@pytest.mark.parametrize(
    ("n", "shares"), [(60, {1: 30, 2: 20, 3: 10}), (6, {1: 3, 2: 2, 3: 1}), (12, {1: 6, 2: 4, 3: 2})]
)
def test_a_round_has_the_counts_in_proportion_to_their_weight(n, shares):
    items = counted([9] * n, {1, 2, 3})
    given = drawn_by_quota(items, lambda count: 4 - count, 1, Random(0))
    assert Counter(count for (count,) in given.values()) == shares


def test_remainders_are_drawn_by_the_rest_of_the_share():
    drawn = Counter()
    for seed in range(400):
        (found,) = drawn_by_quota(counted([9], {1, 2}), lambda count: {1: 9, 2: 1}[count], 1, Random(seed)).values()
        drawn[found[0]] += 1
    # 360 of 400 are expected, with a deviation of sqrt(400 * .9 * .1) = 6.
    assert 335 <= drawn[1] <= 385


def test_a_caption_gets_each_count_once_and_no_more_than_there_are():
    given = drawn_by_quota(counted([9, 9], {1, 2}), lambda count: 1, 5, Random(0))
    assert [sorted(found) for found in given.values()] == [[1, 2], [1, 2]]
    assert drawn_by_quota([Counted("a", 1, frozenset())], lambda count: 1, 1, Random(0)) == {}


def test_a_caption_whose_counts_are_used_up_draws_by_the_weight():
    """Of three captions two can only state 2, whose quota is one: the other draw goes by the weight."""
    items = [Counted("a", 9, frozenset({2})), Counted("b", 9, frozenset({2}))]
    items.append(Counted("c", 9, frozenset({1, 2})))
    given = drawn_by_quota(items, lambda count: {1: 1000, 2: 1}[count], 1, Random(1))
    assert {name: found[0] for name, found in given.items()} == {"a": 2, "b": 2, "c": 1}
