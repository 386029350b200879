"""What every database takes as text and as JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.text.storable import is_storable, storable


@pytest.mark.parametrize(
    "value", [None, "", "\\u0000", "\N{FIRE}", 10**400, 0.5, {"a": ["b", {"c": (1, "d")}]}, [[[[]]]]]
)
def test_storable_values_are_accepted(value):
    assert is_storable(value)


@pytest.mark.parametrize(
    "value",
    ["\x00", "a\ud800", "\udfff", float("nan"), float("-inf"), ["\x00"], {"\x00": 1}, {"a": {"b": [1, ["\udc00"]]}}],
)
def test_other_values_are_refused(value):
    assert not is_storable(value)


def test_deep_nesting_raises_no_error():
    deep: list = []
    for _level in range(50_000):
        deep = [deep]
    assert is_storable(deep)
    assert not is_storable([deep, "\x00"])


def test_text_that_no_database_stores_is_removed_and_the_rest_stays():
    assert storable("a\x00 b\x07\n\tc é 🙂") == "a b\n\tc é 🙂"
    assert storable("half \ud83d") == "half ?"


@given(st.text(st.characters(exclude_categories=[])))
def test_storable_returns_storable_text(text):
    assert is_storable(storable(text))
