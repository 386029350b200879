"""What every database takes as text and as JSON."""

import pytest

from text.storable import is_storable


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
