"""The caption's place: never the same for all three validators, first half of the time, and secret."""

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


@pytest.mark.parametrize("overlap", [1, 2, 3, 5])
def test_over_a_project_the_caption_is_first_half_of_the_time(overlap):
    """Only the odd slot of each of 2,000 foils is a coin: four standard deviations are 89."""
    shown = [first for foil in range(2000, 4000) for first in order(17, foil, overlap)]
    assert abs(sum(shown) - len(shown) / 2) < (90 if overlap % 2 else 1)


def test_the_order_of_a_foil_says_nothing_about_its_neighbours():
    """Foils 2n and 2n + 1 are neighbours in a file that anybody may have: 500 of 1,000 pairs, 4 deviations are 63."""
    alike = sum(order(17, 2 * half, 1) == order(17, 2 * half + 1, 1) for half in range(1000))
    assert abs(alike - 500) < 63


def test_no_slot_of_three_reveals_the_position_of_the_caption():
    """Each place alone is a fair coin: 3 places x 4000 foils, 4 standard deviations of a fair coin are 126."""
    for slot in range(3):
        firsts = sum(caption_first(5, foil, slot, 3) for foil in range(4000))
        assert abs(firsts - 2000) < 126


def test_the_order_is_the_same_whenever_it_is_asked_and_another_with_another_seed():
    assert order(1, 42, 3) == order(1, 42, 3)
    assert [order(1, foil, 3) for foil in range(100)] != [order(2, foil, 3) for foil in range(100)]


def test_orders_of_one_seed_stay_what_they_are():
    """Votes that are reinstated look for a slot with their order."""
    bits = "".join(
        str(int(caption_first(7, foil, slot, overlap)))
        for foil in range(6)
        for overlap in (1, 2, 3, 5)
        for slot in range(overlap)
    )
    assert bits == "001011011010010110110000101001011001010010110010110110011010110100"


def test_a_slot_outside_of_the_task_is_a_programming_error():
    with pytest.raises(ValueError, match="slot 3"):
        caption_first(1, 1, 3, 3)


@given(seeds, st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=4))
def test_a_share_is_between_zero_and_one(seed, parts):
    assert 0 <= seeded_share(seed, *parts) < 1


def test_shares_are_spread_evenly():
    """10 bins of 10000 draws: 1000 each, 5 standard deviations are 150."""
    bins = [0] * 10
    for target in range(10_000):
        bins[int(seeded_share(3, "edit", target) * 10)] += 1
    assert all(abs(count - 1000) < 150 for count in bins)


@given(seeds, foils, foils)
def test_returned_foils_come_before_started_and_new_tasks(seed, one, other):
    bands = [priority(band, seed, "edit", target) for band, target in ((RETURNED, one), (STARTED, other), (FRESH, one))]
    assert bands == sorted(bands)
    assert bands[0] < 1 <= bands[1] < 2 <= bands[2]
