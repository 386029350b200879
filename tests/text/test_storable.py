"""What every database takes as text and as JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.storable import is_storable, storable


@pytest.mark.parametrize(
    "value", [None, "", "\\u0000", "\N{FIRE}", 10**400, 0.5, {"a": ["b", {"c": (1, "d")}]}, [[[[]]]]]
)
def test_what_is_stored(value):
    assert is_storable(value)


@pytest.mark.parametrize(
    "value",
    ["\x00", "a\ud800", "\udfff", float("nan"), float("-inf"), ["\x00"], {"\x00": 1}, {"a": {"b": [1, ["\udc00"]]}}],
)
def test_what_is_not(value):
    assert not is_storable(value)


def test_depth_ends_in_no_traceback():
    deep: list = []
    for _level in range(50_000):
        deep = [deep]
    assert is_storable(deep)
    assert not is_storable([deep, "\x00"])


def test_what_no_database_keeps_is_taken_out_and_the_rest_stays():
    assert storable("a\x00 b\x07\n\tc é 🙂") == "a b\n\tc é 🙂"
    assert storable("half \ud83d") == "half ?"


@given(st.text(st.characters(exclude_categories=[])))
def test_what_was_made_storable_is(text):
    assert is_storable(storable(text))
