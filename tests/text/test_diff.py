"""Word diffs: exact on any text, minimal on captions, bounded on monsters."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.diff import Edit, apply_edits, changed_words, diff_edits, diff_segments
from foilworks.core.text.tokens import words

PIECES = st.sampled_from(
    [
        "a",
        "man",
        "Man",
        " ",
        "  ",
        "\n",
        ".",
        ",",
        "-",
        "'s",
        "שלום",
        "مرحبا",
        "é",
        "é",
        "👩‍👩‍👧",
        "🇩🇪",
        "👍🏽",
        "\x00",
        "\u200f",
        "İ",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join))


@given(TEXTS, TEXTS)
@settings(max_examples=400)
def test_the_edits_always_reproduce_the_other_text(a, b):
    edits = diff_edits(a, b)
    assert apply_edits(a, edits) == b
    assert all(before.end < after.start for before, after in itertools.pairwise(edits))
    assert all(a[edit.start : edit.end] != edit.target for edit in edits)


@given(TEXTS, TEXTS)
def test_segments_spell_both_texts(a, b):
    pieces = diff_segments(a, b)
    assert "".join(text for kind, text in pieces if kind != "added") == a
    assert "".join(text for kind, text in pieces if kind != "removed") == b
    assert all(text for _, text in pieces)


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert diff_edits(text, text) == ()
    assert changed_words(text, text) == 0


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("a red circle", "a blue circle", [Edit(2, 5, "blue")]),
        ("left to right", "right to left", [Edit(0, 4, "right"), Edit(8, 13, "left")]),
        # One changed region: the blank between two changed words is part of it.
        ("exactly three times.", "exactly one time.", [Edit(8, 19, "one time")]),
        ("a dog", "a big dog", [Edit(2, 2, "big ")]),
        ("a big dog", "a dog", [Edit(2, 6, "")]),
        ("a dog", "a  dog", [Edit(2, 2, " ")]),
        ("a dog.", "a dog", [Edit(5, 6, "")]),
        ("", "a", [Edit(0, 0, "a")]),
        ("one two three four", "two three four five", [Edit(0, 4, ""), Edit(18, 18, " five")]),
        # Words are compared whole: "up" in "cup" is no common part.
        ("cup", "up", [Edit(0, 3, "up")]),
        # A letter and its combining accent, a joined family, a flag, a thumb with its tone change as one.
        ("cafe\u0301", "cafe", [Edit(0, 5, "cafe")]),
        ("👩\u200d👩\u200d👧 x", "👩\u200d👩\u200d👦 x", [Edit(0, 5, "👩\u200d👩\u200d👦")]),
        ("🇩🇪", "🇩🇰", [Edit(0, 2, "🇩🇰")]),
        ("👍🏽", "👍🏿", [Edit(0, 2, "👍🏿")]),
        ("שלום עולם", "שלום לכם", [Edit(5, 9, "לכם")]),
    ],
)
def test_the_edits_of_known_texts(a, b, expected):
    assert list(diff_edits(a, b)) == expected


@pytest.mark.parametrize(
    ("a", "b", "count"),
    [
        ("A man folds a shirt.", "a man FOLDS a shirt", 0),
        ("a man folds a shirt", "a man unfolds a shirt", 1),
        # Two removed and one added at one place: two words changed.
        ("a man picks up a shirt", "a man folds a shirt", 2),
        ("left to right", "right to left", 2),
        ("a b c", "a x y c", 2),
        ("a dog", "a big brown dog", 2),
        ("", "three new words", 3),
        ("push-up", "push ups", 1),
        ("🙂 smiles", "🙃 smiles", 1),
    ],
)
def test_changed_words(a, b, count):
    assert changed_words(a, b) == count


def plain_levenshtein(left, right):
    """The textbook table, as an independent check."""
    row = list(range(len(right) + 1))
    for i, word in enumerate(left, start=1):
        above, row = row, [i]
        for j, other in enumerate(right, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != other)))
    return row[-1]


@given(*[st.lists(st.sampled_from(["a", "b", "cc", "d"]), max_size=9)] * 2)
def test_changed_words_is_the_edit_distance_over_words(left, right):
    a, b = " ".join(left), " ".join(right)
    assert changed_words(a, b) == plain_levenshtein(words(a), words(b))


@pytest.mark.parametrize(
    ("edits", "text"),
    [([Edit(0, 2, "x"), Edit(1, 3, "y")], "abc"), ([Edit(2, 5, "")], "abc"), ([Edit(2, 1, "")], "abc")],
)
def test_invalid_edits_are_refused(edits, text):
    with pytest.raises(ValueError, match="overlaps another or exceeds the text of 3"):
        apply_edits(text, edits)


MILLION = 1_000_000


@pytest.mark.full
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x y " * (MILLION // 4), "y x " * (MILLION // 4)),
        ("x" * MILLION, "x" * MILLION + "y"),
        (" " * MILLION + "a", "b" + " " * MILLION),
        ("e\u0301" * (MILLION // 2), "e" * MILLION),
        (" ".join(map(str, range(150_000))), " ".join(map(str, range(1, 150_001)))),
    ],
    ids=["swapped", "one word", "blanks", "accents", "shifted"],
)
def test_a_million_characters_take_no_quadratic_time(a, b):
    edits = diff_edits(a, b)
    assert apply_edits(a, edits) == b


def test_a_middle_of_more_than_500_words_counts_as_replaced():
    long = [f"word{number}" for number in range(502)]
    changed = [*long]
    changed[1] = changed[500] = "other"
    assert changed_words(" ".join(long), " ".join(changed)) == 2
    longer, changed = ["new", *long], ["newer", *long]
    changed[1] = changed[501] = "other"
    assert changed_words(" ".join(longer), " ".join(changed)) == 502
    edits = diff_edits(" ".join(longer), " ".join(changed))
    assert len(edits) == 1
    assert apply_edits(" ".join(longer), edits) == " ".join(changed)
