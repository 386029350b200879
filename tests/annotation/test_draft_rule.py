"""Which texts of a page may be kept as a draft."""

import json

import pytest

from annotation.rules.drafts import MAX_CHARACTERS, parse_draft


def draft(*texts: str, base: str = "b") -> str:
    return json.dumps({"base": base, "values": {"text": list(texts)}})


def test_a_draft_is_the_fields_and_the_form_that_it_was_begun_on():
    assert parse_draft(draft("a", "b")) == {"base": "b", "values": {"text": ["a", "b"]}}
    assert parse_draft('{"base": "", "values": {}}') == {"base": "", "values": {}}


def test_it_has_a_length_to_the_character():
    longest = draft("a" * (MAX_CHARACTERS - len(draft(""))))
    assert len(longest) == MAX_CHARACTERS
    assert parse_draft(longest) is not None
    assert parse_draft(longest + " ") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[" * 90_000,
        "[]",
        '"base values"',
        '{"base": "b"}',
        '{"base": "b", "values": {}, "more": 1}',
        '{"base": 1, "values": {}}',
        '{"base": "b", "values": []}',
        '{"base": "b", "values": {"text": "a"}}',
        '{"base": "b", "values": {"text": ["a", 1]}}',
        '{"base": "b", "values": {"text": ["a"], "other": 1}}',
        draft("a\x00"),
        draft("a", base="\x00"),
        draft("half a pair: \ud800"),
        '{"base": "b", "values": {"\\u0000": ["a"]}}',
        '{"base": "b", "values": {"\\udc00": ["a"]}}',
    ],
)
def test_anything_else_is_none(text):
    assert parse_draft(text) is None


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "\N{FIRE}", "\\"])
def test_what_only_looks_like_an_escape_is_kept(text):
    assert parse_draft(draft(text)) == {"base": "b", "values": {"text": [text]}}
