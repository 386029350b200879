"""Practice and qualification without a table: what is drawn, who has passed, how an edit is graded."""

import pytest

from annotation.rules.editing import Problem
from annotation.rules.quizzes import Match, draw, grade_edit, has_passed

CAPTION = "a man folds a shirt in the sun."
EXPERT = ["a man unfolds a shirt in the sun."]
MATCHED, MISMATCHED = range(20), range(100, 110)


@pytest.mark.parametrize(
    ("matched", "mismatched", "length", "share", "n_mismatched"),
    [
        (20, 10, 10, 0.3, 3),
        (20, 10, 10, 0.0, 0),
        (20, 2, 10, 0.5, 2),
        (2, 10, 10, 0.3, 8),
        (2, 3, 10, 0.3, 3),
        (20, 0, 10, 0.3, 0),
        (0, 10, 10, 0.0, 10),
    ],
)
def test_about_a_share_is_mismatched_and_one_kind_makes_up_for_the_other(
    matched, mismatched, length, share, n_mismatched
):
    drawn = draw(7, 1, 1, MATCHED[:matched], MISMATCHED[:mismatched], length, share)
    assert len(drawn) == len(set(drawn)) == min(length, matched + mismatched)
    assert sum(pk >= 100 for pk in drawn) == n_mismatched


@pytest.mark.parametrize(
    ("right", "asked", "share", "passed"),
    [
        (9, 10, 0.9, True),
        (6, 7, 0.9, False),
        (7, 7, 1.0, True),
        (0, 0, 0.0, False),
        (0, 1, 0.0, True),
        (1, 1, 1.0, True),
        # .7 x 30 is a hair above 21 in binary.
        (21, 30, 0.7, True),
    ],
)
def test_a_person_with_the_required_share_has_passed(right, asked, share, passed):
    assert has_passed(right, asked, share) is passed


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("A man unfolds  a shirt in the sun", Match.SAME),
        ("a man tears a shirt in the sun.", Match.SAME_PLACE),
        ("a woman folds a shirt in the sun.", Match.ELSEWHERE),
        # The words of the expert and two more of the caption, at most.
        ("a man tears a coat in the rain.", Match.SAME_PLACE),
        ("a woman tears a coat in the rain.", Match.ELSEWHERE),
        ("a man folds a shirt in the sun.", Match.BROKEN),
        ("", Match.BROKEN),
    ],
)
def test_an_edit_is_held_against_the_experts(text, match):
    grade = grade_edit(CAPTION, text, EXPERT)
    assert grade.match == match
    assert isinstance(grade.findings, tuple)
    assert grade.right is (match in {Match.SAME, Match.SAME_PLACE})


def test_a_warning_keeps_an_edit_of_the_right_words_from_being_right():
    grade = grade_edit(CAPTION, "a man tears a shirt. It is hot in the sun.", EXPERT)
    assert [finding.problem for finding in grade.findings] == [Problem.NOT_ONE_SENTENCE]
    assert grade.match == Match.ELSEWHERE


def test_a_warning_about_the_experts_own_text_is_shown():
    own = "a man tears a shirt. It is hot in the sun."
    grade = grade_edit(CAPTION, own, [own])
    assert grade.match == Match.SAME
    assert [finding.problem for finding in grade.findings] == [Problem.NOT_ONE_SENTENCE]


def test_an_error_is_reported():
    assert [finding.problem for finding in grade_edit(CAPTION, CAPTION, EXPERT).findings] == [Problem.SAME_AS_CAPTION]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        # A word put in counts for the one before it; at the beginning, for the first.
        ("a man quickly folds a shirt.", Match.SAME_PLACE),
        ("a man folds quickly a shirt.", Match.ELSEWHERE),
        ("there a man folds a shirt.", Match.ELSEWHERE),
    ],
)
def test_a_word_put_in_counts_for_the_one_before_it(text, match):
    assert grade_edit("a man folds a shirt.", text, ["a woman folds a shirt."]).match == match


def test_inserted_words_do_not_move_the_position():
    found = grade_edit("a man folds a shirt.", "there a man tears a shirt.", ["a man unfolds a shirt."])
    assert found.match == Match.SAME_PLACE


def test_a_word_put_in_at_the_beginning_counts_for_the_first():
    assert grade_edit("men fold shirts.", "two men fold shirts.", ["women fold shirts."]).match == Match.SAME_PLACE


def test_without_an_expert_no_position_is_right():
    assert grade_edit(CAPTION, "a man tears a shirt in the sun.", []).match == Match.ELSEWHERE
