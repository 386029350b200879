import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.tokens import word_spans, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("A man's dog.", ["a", "man's", "dog"]),
        ("push-ups, 3x", ["push", "ups", "3x"]),
        # The apostrophe joins letters only: "'90s" and a trailing quote stay outside.
        ("the '90s 'quoted'", ["the", "90s", "quoted"]),
        ("don't''t", ["don't", "t"]),
        ("naïve café", ["na", "ve", "caf"]),
        ("שלום 🙂", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_spans_point_into_the_text_as_given():
    assert word_spans("A Man's") == [(0, 1, "a"), (2, 7, "man's")]
    # Lower-cased, the dotted capital I takes two characters; the offsets behind it must not shift.
    assert word_spans("İstanbul on") == [(0, 1, "i"), (1, 8, "stanbul"), (9, 11, "on")]


@given(st.text())
def test_spans_and_words_agree_on_any_text(text):
    spans = word_spans(text)
    assert [word for _, _, word in spans] == words(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
