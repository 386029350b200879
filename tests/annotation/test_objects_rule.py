"""Lines of extracted objects: what is read, to the last character, and what is said of those that are none."""

import json

import pytest

from annotation.rules.objects import (
    MAX_KEY_LENGTH,
    MAX_NAME,
    MAX_OBJECTS,
    MAX_SOURCE,
    LineError,
    drawn_frames,
    nouns,
    parse_answers,
    parse_line,
    seen_by_most,
)

NO_SOURCE = "source: is not a name of 1 to 100 characters; name the tool that made them"


def line(**fields) -> str:
    return json.dumps({"video": "v", "objects": ["a"], **fields})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "line: is not JSON; write one object per line"),
        ("[" * 100_000, "line: is not JSON; write one object per line"),
        ("[1]", 'line: is not a JSON object; write {"video": …, "time": …, "objects": […]}'),
        (line(video=""), "video: is missing; enter the key of a video of the project"),
        (line(video=7), "video: is missing; enter the key of a video of the project"),
        (line(video="v" * (MAX_KEY_LENGTH + 1)), "video: is missing; enter the key of a video of the project"),
        (
            line(video="v\0"),
            "video: contains a NUL or an incomplete character; enter the key of a video of the project",
        ),
        (line(source=""), NO_SOURCE),
        (line(source=1), NO_SOURCE),
        (line(source="a\nb"), NO_SOURCE),
        (line(source="s" * (MAX_SOURCE + 1)), NO_SOURCE),
        (line(time=-0.5), "time: is not a number of seconds; enter the time of the frame in the file"),
        (line(time=1_000_000), "time: is not a number of seconds; enter the time of the frame in the file"),
        (line(time="1"), "time: is not a number of seconds; enter the time of the frame in the file"),
        (line(time=True), "time: is not a number of seconds; enter the time of the frame in the file"),
        (line(objects="a"), 'objects: is not a list of names; write ["table", "lamp"]'),
        (line(objects=[1]), 'objects: is not a list of names; write ["table", "lamp"]'),
        (line(objects=[" "]), "objects: is empty; remove the line"),
        (line(objects=["a\nb"]), "objects: has more than 60 names, or a name longer than 100 characters"),
        (line(objects=["a" * (MAX_NAME + 1)]), "objects: has more than 60 names, or a name longer than 100 characters"),
        (
            line(objects=[f"o{n}" for n in range(MAX_OBJECTS + 1)]),
            "objects: has more than 60 names, or a name longer than 100 characters",
        ),
    ],
)
def test_errors_say_what_is_wrong_and_what_to_do(text, said):
    with pytest.raises(LineError) as caught:
        parse_line(text, "import")
    assert str(caught.value) == said
    assert f"{caught.value.field}: {caught.value.problem}" == said


@pytest.mark.parametrize(
    ("fields", "read"),
    [
        ({}, ("v", None, ("a",), "import")),
        ({"time": None}, ("v", None, ("a",), "import")),
        ({"time": 0}, ("v", 0.0, ("a",), "import")),
        ({"time": 0.5}, ("v", 0.5, ("a",), "import")),
        ({"time": 999_999}, ("v", 999_999.0, ("a",), "import")),
        ({"video": "v" * MAX_KEY_LENGTH}, ("v" * MAX_KEY_LENGTH, None, ("a",), "import")),
        ({"source": "x"}, ("v", None, ("a",), "x")),
        ({"source": "s" * MAX_SOURCE}, ("v", None, ("a",), "s" * MAX_SOURCE)),
        ({"objects": ["b" * MAX_NAME]}, ("v", None, ("b" * MAX_NAME,), "import")),
        ({"objects": [" b ", "", "a", "b"]}, ("v", None, ("b", "a"), "import")),
    ],
)
def test_numbers_within_the_limits_are_read(fields, read):
    found = parse_line(line(**fields), "import")
    assert (found.key, found.time, found.objects, found.source) == read


def test_as_many_names_as_may_be_are_read():
    names = [f"o{n}" for n in range(MAX_OBJECTS)]
    assert parse_line(line(objects=names), "import").objects == tuple(names)


def test_nouns_are_the_common_ones_once_each_by_lemma_or_word():
    words = [("NOUN", "shirt", "shirts"), ("VERB", "fold", "folds"), ("NOUN", "", "Lamps"), ("NOUN", "shirt", "shirt")]
    assert nouns(words) == ("shirt", "lamps")


def test_frames_of_fewer_videos_than_wanted_are_all_drawn():
    assert sorted(drawn_frames({1: [10], 2: [20]}, 5, 1)) == [10, 20]


def test_answers_are_whole_or_none():
    assert parse_answers({"0": "yes", "1": "no"}, 2) == [True, False]
    assert parse_answers({"0": "yes"}, 2) is None
    assert parse_answers({}, 0) == []


def test_more_than_half_have_seen_it():
    assert seen_by_most([[True, True, False], [True, False, False], [False, True, True], [True, False, False]], 3) == [
        True,
        False,
        False,
    ]
