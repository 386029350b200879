"""Counts of foils: exchanged between captions, or drawn in proportion to a weight."""

from collections import Counter
from random import Random

import pytest
from generation.methods._number_balance import Counted, FoilCount, balanced, drawn_by_quota


def counted(values: list[int], allowed: set[int], adverb: bool | None = None) -> list[Counted]:
    return [Counted(f"c{n:03}", value, frozenset(allowed - {value}), adverb) for n, value in enumerate(values)]


def test_each_count_replaces_another_as_often_as_it_is_replaced():
    items = counted([1, 1, 2, 2, 3, 3, 4, 4], {1, 2, 3, 4})
    given = balanced(items, 3, Random(0))
    assert set(given) == {item.id for item in items}
    pairs = Counter((item.value, one.value) for item in items for one in given[item.id])
    assert all(pairs[b, a] == n for (a, b), n in pairs.items())
    # Different counts for each caption.
    assert all(len({one.value for one in found}) == len(found) == 3 for found in given.values())


def test_the_most_frequent_count_is_served_first():
    items = counted([1] * 5 + [2, 3, 4, 5, 6], {1, 2, 3, 4, 5, 6})
    for seed in range(20):
        assert len(balanced(items, 1, Random(seed))) == 10


def test_a_trade_passes_on_how_the_count_is_written():
    once = Counted("a", 1, frozenset({2}), True)
    given = balanced([once, Counted("b", 2, frozenset({1}), False)], 2, Random(0))
    assert given == {"a": (FoilCount(2, False),), "b": (FoilCount(1, True),)}
    assert balanced([once, Counted("b", 2, frozenset({3}), False)], 1, Random(0)) == {}
    assert balanced([once, Counted("b", 1, frozenset({2}), False)], 1, Random(0)) == {}


@pytest.mark.parametrize(
    ("n", "shares"), [(60, {1: 30, 2: 20, 3: 10}), (6, {1: 3, 2: 2, 3: 1}), (12, {1: 6, 2: 4, 3: 2})]
)
def test_a_round_has_the_counts_in_proportion_to_their_weight(n, shares):
    items = counted([9] * n, {1, 2, 3})
    given = drawn_by_quota(items, lambda count: 4 - count, 1, Random(0))
    assert Counter(one.value for (one,) in given.values()) == shares
    assert {one.adverb for (one,) in given.values()} == {None}


def test_remainders_are_drawn_by_the_rest_of_the_share():
    drawn = Counter()
    for seed in range(400):
        (found,) = drawn_by_quota(counted([9], {1, 2}), lambda count: {1: 9, 2: 1}[count], 1, Random(seed)).values()
        drawn[found[0].value] += 1
    # 360 of 400 are expected, with a deviation of sqrt(400 * .9 * .1) = 6.
    assert 335 <= drawn[1] <= 385


def test_a_caption_gets_each_count_once_and_no_more_than_there_are():
    given = drawn_by_quota(counted([9, 9], {1, 2}), lambda count: 1, 5, Random(0))
    assert [sorted(one.value for one in found) for found in given.values()] == [[1, 2], [1, 2]]
    assert drawn_by_quota([Counted("a", 1, frozenset(), None)], lambda count: 1, 1, Random(0)) == {}


def test_a_caption_whose_counts_are_used_up_draws_by_the_weight():
    """Of three captions two can only state 2, whose quota is one: the other draw goes by the weight."""
    items = [Counted("a", 9, frozenset({2}), None), Counted("b", 9, frozenset({2}), None)]
    items.append(Counted("c", 9, frozenset({1, 2}), None))
    given = drawn_by_quota(items, lambda count: {1: 1000, 2: 1}[count], 1, Random(1))
    assert {name: found[0].value for name, found in given.items()} == {"a": 2, "b": 2, "c": 1}
