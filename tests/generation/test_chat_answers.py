"""Answers of instruction models: which captions are read from them, and how they are made to look like the caption."""

import pytest

from generation.methods._chat_answers import MAX_JSON_STARTS, check_answers, read_captions

ARTICLES = "a an the some someone somebody two three four five several many one there this that these those in on at"
PERSONS = "people person man men woman women boy boys girl girls kid kids child children he she it they his her their"
COMMON = [*ARTICLES.split(), *PERSONS.split(), "young", "old", "little"]


def like(caption: str, answer: str) -> str:
    (text,), why = check_answers(caption, [answer], 1, mend=True)
    assert why == []
    return text


@pytest.mark.parametrize("word", COMMON)
def test_a_common_first_word_takes_the_case_of_the_captions(word):
    assert like("dogs bark", f"{word.capitalize()} sing") == f"{word} sing"
    assert like("Dogs bark", f"{word} sing") == f"{word.capitalize()} sing"


@pytest.mark.parametrize(
    ("caption", "answer", "mended"),
    [
        ("dogs bark", "Tom sings", "Tom sings"),
        ("dogs bark", "THE man sings", "THE man sings"),
        ("dogs bark", "A man sings", "a man sings"),
        ("Dogs bark", "tom sings", "Tom sings"),
        ("  Dogs bark", "  tom sings  ", "Tom sings"),
        ("9 dogs bark", "The man sings", "The man sings"),
        ("9 dogs bark", "the man sings", "the man sings"),
        ("dogs bark", "9 Men sing", "9 Men sing"),
        ("Dogs bark", "“the man” sings", "“the man” sings"),
        # The end is that of the caption.
        ("dogs bark", "tom sings.", "tom sings"),
        ("dogs bark", "tom sings ...", "tom sings"),
        ("dogs bark", "tom sings?!", "tom sings"),
        ("dogs bark.", "tom sings", "tom sings."),
        ("dogs bark! ", "tom sings", "tom sings!"),
        ("do dogs bark?", "does tom sing", "does tom sing?"),
        ("dogs bark.", "tom sings!", "tom sings!"),
        ('he says "go!"', "tom sings.", "tom sings"),
        ("dogs. bark", "tom sings.", "tom sings"),
        ('he says "go!"', "tom sings", "tom sings"),
    ],
)
def test_a_foil_begins_and_ends_like_the_caption(caption, answer, mended):
    assert like(caption, answer) == mended


def test_an_empty_caption_changes_no_answer():
    assert like(" ", " The man sings. ") == "The man sings."
    assert check_answers("dogs bark", ["  ", "."], 2, mend=True) == ([], ["empty answer", "empty answer"])


def test_a_foil_may_be_three_times_as_long_and_sixty_characters():
    assert check_answers("dogs", ["x" * 72], 1, mend=False) == (["x" * 72], [])
    assert check_answers("dogs", ["x" * 73], 1, mend=False) == ([], ["far longer than the caption"])


def test_only_the_requested_number_of_answers_counts():
    assert check_answers("dogs bark", ["one", "two", "three"], 2, mend=False) == (["one", "two"], [])
    assert check_answers("dogs bark", ["one"], 3, mend=False) == (["one"], ["fewer than requested"] * 2)
    assert check_answers("dogs bark", ["one", "Dogs bark.", "two"], 3, mend=False) == (
        ["one", "two"],
        ["repeats the caption"],
    )


@pytest.mark.parametrize("name", ["captions", "counterfactuals", "foils", "sentences", "answers"])
def test_these_keys_name_the_captions_among_other_lists(name):
    assert read_captions(f'{{"notes": ["x"], "{name}": ["a"], "more": ["y"]}}') == ["a"]
    assert read_captions(f'{{"captions": "none", "{name}": ["a"]}}') == ["a"]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"mine": ["a"]}', ["a"]),
        ('{"captions": ["a"], "foils": ["b"]}', ["a"]),
        # A list without captions is no answer; the next one may be.
        ('[1] then ["a"]', ["a"]),
        ('["a", 1]', None),
        ('[{"caption": "a", "n": 1}]', ["a"]),
        ('[{"caption": "a", "why": "b"}, {"caption": "c"}]', None),
        ('[["a"]]', ["a"]),
        ('{"captions": {"first": ["a"]}}', ["a"]),
        ("[]", None),
        ('<think>["a"]</think>["b"]', ["b"]),
        ('<think>["a"]</think><think>["b"]</think> ["c"]', ["c"]),
        ("[" + "[" * 5_000 + '["a"]', None),
        ("[ " * (MAX_JSON_STARTS - 1) + '["a"]', ["a"]),
        ("[ " * MAX_JSON_STARTS + '["a"]', None),
    ],
)
def test_the_first_list_of_texts_counts(answer, found):
    assert read_captions(answer) == found
