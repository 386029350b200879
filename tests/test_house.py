"""The shape of the house, as scripts/house.py measures it."""

from collections.abc import Iterator
from functools import cache

import pytest

from scripts import house

# Of the whole product. A room that outgrows this is split.
MAX_ROOM_SHARE = 0.15


@cache
def measured() -> house.House:
    return house.measure(house.ROOT)


@pytest.fixture(scope="module", autouse=True)
def forgotten_afterwards() -> Iterator[None]:
    yield
    measured.cache_clear()


def test_no_two_rooms_import_each_other_by_any_way():
    tied = [f"{each}" for knot in measured().knots for each in measured().inside(knot)]
    assert not tied, "imports that tie rooms into a knot:\n  " + "\n  ".join(tied)


def test_private_modules_are_imported_in_their_own_folder_only():
    private = [str(each) for each in measured().private]
    assert not private, "imports of modules of other folders that start with _:\n  " + "\n  ".join(private)


def test_no_room_is_too_large_a_share_of_the_house():
    large = {room: count for room, count in measured().by_room.items() if measured().share(count) > MAX_ROOM_SHARE}
    assert not large, f"rooms over {MAX_ROOM_SHARE:.0%} of {measured().statements} statements: {large}"
    assert len(measured().by_room) > 100, "the rooms were found"
