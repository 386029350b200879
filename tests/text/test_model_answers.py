"""Answers of models in many forms and languages, each with its one right reading."""

import json
from pathlib import Path

import pytest

from foilworks.core.text.model_answers import YES_NO, read_answer, without_thoughts

ROWS = [json.loads(line) for line in Path(__file__).with_name("model_answers.jsonl").read_text("utf-8").splitlines()]


def reading_of(row):
    is_polar = row["options"] == "yes/no"
    answer = read_answer(
        row["text"],
        YES_NO if is_polar else row["options"],
        has_letters=not is_polar,
        finish_reason=row.get("finish_reason", ""),
    )
    return answer.option, answer.reason


def test_every_answer_has_its_one_right_reading():
    assert len(ROWS) >= 160
    misread = [
        (row["text"], row.get("finish_reason", ""), reading_of(row), "instead of", row["answer"], row.get("reason", ""))
        for row in ROWS
        if reading_of(row) != (row["answer"], row.get("reason", ""))
    ]
    assert not misread, "\n".join(map(str, misread))


def test_thoughts_are_removed_and_an_open_one_is_noticed():
    assert without_thoughts("<think>A</think>B") == ("B", False)
    assert without_thoughts("B") == ("B", False)
    assert without_thoughts("<think>A</think><think>B")[1]


@pytest.mark.parametrize("text", ["The answer is <b>B</b>", "B\u0000", "\ud83d", "B" * 5000, "", "\\boxed{" * 500])
def test_no_text_breaks_the_reader(text):
    assert read_answer(text, ("a cat", "a dog")).option in (None, 0, 1)


def test_options_that_are_letters_or_equal_are_not_guessed():
    assert read_answer("B", ("B", "A")).reason == "several options"
    assert read_answer("A", ("A", "B")).option == 0
    assert read_answer("same", ("same", "same")).reason == "several options"
    assert read_answer("Z", ()).reason == "no option"


def test_escaped_line_breaks_and_letters_inside_of_options_are_read():
    assert read_answer("<think>B or A?</think>\\n\\nA", ("a cat", "a dog")).option == 0
    assert read_answer("a red cup", ("A. a table", "B. a red cup")).option == 1
    assert read_answer("B. a red cup", ("A. a table", "B. a red cup")).option == 1
