"""The caption's place: recomputable, never the same for all three validators, first half of the time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.ordering import FRESH, RETURNED, STARTED, caption_first, priority, seeded_share

seeds, foils = st.integers(0, 2**31), st.integers(1, 10**7)


def order(seed: int, foil: int, overlap: int) -> list[bool]:
    return [caption_first(seed, foil, slot, overlap) for slot in range(overlap)]


@given(seeds, foils, st.integers(2, 9))
def test_the_caption_is_never_in_one_place_for_all_validators_of_an_item(seed, foil, overlap):
    shown = order(seed, foil, overlap)
    assert {True, False} == set(shown)
    assert abs(2 * sum(shown) - overlap) <= 1


@given(seeds, st.integers(0, 10**6), st.integers(1, 9))
def test_two_neighbouring_foils_balance_each_other_exactly(seed, half, overlap):
    both = order(seed, 2 * half, overlap) + order(seed, 2 * half + 1, overlap)
    assert 2 * sum(both) == len(both)


@pytest.mark.parametrize("overlap", [1, 2, 3, 5])
def test_over_a_project_the_caption_stands_first_half_of_the_time(overlap):
    shown = [first for foil in range(2000, 4000) for first in order(17, foil, overlap)]
    assert sum(shown) * 2 == len(shown)


def test_no_place_of_three_tells_where_the_caption_is():
    """Each place alone is a fair coin: 3 places x 4000 foils, 4 standard deviations of a fair coin are 126."""
    for slot in range(3):
        firsts = sum(caption_first(5, foil, slot, 3) for foil in range(4000))
        assert abs(firsts - 2000) < 126


def test_the_order_is_the_same_whenever_it_is_asked_and_another_with_another_seed():
    assert order(1, 42, 3) == order(1, 42, 3)
    assert [order(1, foil, 3) for foil in range(100)] != [order(2, foil, 3) for foil in range(100)]


def test_orders_of_older_versions_stay_what_they_were():
    """Votes that come back look for a place with their order, so that these bits are for good."""
    bits = "".join(
        str(int(caption_first(7, foil, slot, overlap)))
        for foil in range(6)
        for overlap in (1, 2, 3, 5)
        for slot in range(overlap)
    )
    assert bits == "101010011010010110110000101101010101010010110010100110111010110100"


def test_a_place_that_the_task_does_not_have_is_an_error_of_ours():
    with pytest.raises(ValueError, match="slot 3"):
        caption_first(1, 1, 3, 3)


@given(seeds, st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=4))
def test_a_share_lies_between_nought_and_one(seed, parts):
    assert 0 <= seeded_share(seed, *parts) < 1


def test_shares_are_spread_evenly():
    """10 bins of 10000 draws: 1000 each, 5 standard deviations are 150."""
    bins = [0] * 10
    for target in range(10_000):
        bins[int(seeded_share(3, "edit", target) * 10)] += 1
    assert all(abs(count - 1000) < 150 for count in bins)


@given(seeds, foils, foils)
def test_returned_pieces_come_before_started_tasks_and_those_before_fresh_ones(seed, one, other):
    bands = [priority(band, seed, "edit", target) for band, target in ((RETURNED, one), (STARTED, other), (FRESH, one))]
    assert bands == sorted(bands)
    assert bands[0] < 1 <= bands[1] < 2 <= bands[2]
