"""Texts that keep a regular expression busy: every pattern of the product takes linear time.

Growth is measured by processor time, which other load can raise: these tests run in `make test-full` only.
"""

import re

import pytest

from tests.attacks.patterns import ANY_USE, Found, product_patterns, slow_text


@pytest.fixture(scope="module")
def found() -> list[Found]:
    return product_patterns()


def test_patterns_of_all_packages_are_found(found):
    packages = {each.place.partition("/")[0] for each in found}
    assert packages >= {"annotation", "evaluation", "foilworks", "generation"}
    assert len(found) > 100
    uses = {each.pattern.pattern: each.uses for each in found}
    assert "finditer" in uses["[A-Za-z]+"]
    assert uses[r"ending[0-9]+"] == {"fullmatch"}


@pytest.mark.full
@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*(\([^()]*\)|\[[^\[\]]*\])",
        r"[a-z]+(-[a-z]+)+",
        r"^\s*initially\s+([^.]+?)\s+(?:is|are)\s+(open|closed)\s*[.!]?\s*$",
        r"There is a (.+?) in the photo",
        r"(a+)+b",
        r"\d+\.?\d*x",
    ],
)
def test_a_pattern_that_grows_faster_is_noticed(pattern):
    assert slow_text(Found("here", re.compile(pattern), ANY_USE))


@pytest.mark.full
def test_no_pattern_grows_faster_than_its_text(found):
    slow = {str(each): text for each in found if (text := slow_text(each, words=12, drawn=300))}
    assert not slow
