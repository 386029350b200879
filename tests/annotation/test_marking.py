"""Which words of a caption a counterfactual keeps, and which say what happens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.marking import Marks, marks_of


@pytest.mark.parametrize(
    ("caption", "stay", "change"),
    [
        ("a man folds a blue shirt.", "man blue shirt", "folds"),
        ("Two dogs run in the park", "dogs park", "run"),
        ("a person is cutting an onion with a knife", "person onion knife", "cutting"),
        ("Children play on the grass.", "Children grass", "play"),
        ("a woman in a red dress talks to John", "woman red dress John", "talks"),
        ("The little girl is running", "little girl", "running"),
        ("Running shoes lie there", "Running", "shoes lie"),
        ("a man is blue", "man", "blue"),
        ("a man folds blue paper", "man", "folds blue paper"),
        ("a dress shop opens", "dress shop", "opens"),
        ("the school bus stops", "school bus", "stops"),
        ("a man runs", "man", "runs"),
        ("", "", ""),
    ],
)
def test_people_and_things_stay_and_what_happens_changes(caption: str, stay: str, change: str):
    marks = marks_of(caption)
    assert (" ".join(marks.stay), " ".join(marks.change)) == (stay, change)
    if marks.span:
        assert caption[slice(*marks.span)] == marks.change[0]


def test_the_words_that_suggestions_change_are_the_action():
    marks = marks_of("a man gets up from a chair", (6, 13))
    assert (marks.stay, marks.change, marks.span) == (("man", "chair"), ("gets", "up"), (6, 10))


@given(st.text(max_size=60), st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_marks_are_words_of_the_caption(caption: str, target: tuple[int, int]):
    marks = marks_of(caption, target)
    assert all(word in caption for word in (*marks.stay, *marks.change))


def test_words_after_the_action_without_an_article_are_not_marked():
    marks = marks_of("a man folds blue shirts", (6, 11))
    assert (marks.stay, marks.change) == (("man",), ("folds",))


def test_a_word_that_begins_where_the_action_ends_is_not_part_of_it():
    assert marks_of("a man gets up from a chair", (6, 11)).change == ("gets",)


def test_a_script_without_spaces_has_no_marks():
    """Its clauses would count as one word that has to stay, so every foil would get a warning."""
    assert marks_of("一个男人打开红门") == Marks()
