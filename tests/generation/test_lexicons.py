"""The parameters `lexicon=` and `pairs=`: what they say, and what is wrong with them."""

import re

import pytest

from generation.errors import GenerationError
from generation.methods._lexicon import parse_lexicon, parse_pairs


def test_a_lexicon_gives_the_replacements_of_each_word():
    assert parse_lexicon(" Red  Car : Blue van ,dog:cat| Big  ape,, ", "lexicon") == {
        "red car": ("Blue van",),
        "dog": ("cat", "Big ape"),
    }
    assert parse_lexicon("", "lexicon") == {}
    # Only the first colon divides.
    assert parse_lexicon("a:b:c", "lexicon") == {"a": ("b:c",)}


def test_pairs_go_in_both_directions():
    assert parse_pairs("Up:Down,in:out|off", "pairs") == {
        "up": ("Down",),
        "in": ("out", "off"),
        "down": ("up",),
        "out": ("in",),
        "off": ("in",),
    }
    assert parse_pairs("up:down,down:Up", "pairs") == {"up": ("down",), "down": ("Up",)}
    # A word that is opposite to two others has both.
    assert parse_pairs("up:down,above:down", "pairs") == {"up": ("down",), "above": ("down",), "down": ("up", "above")}
    assert parse_pairs("up:down,down:under", "pairs") == {
        "up": ("down",),
        "down": ("under", "up"),
        "under": ("down",),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("up", "'up' is not a pair; write it as word:replacement"),
        (" up: ", "'up:' is not a pair; write it as word:replacement"),
        (":up", "':up' is not a pair; write it as word:replacement"),
        ("a:b, up:down| ", "'up:down|' is not a pair; write it as word:replacement"),
        ("up:UP", "'up:UP' replaces a word by itself; change one side"),
        ("up:down|up", "'up:down|up' replaces a word by itself; change one side"),
        ("up:down, UP:under", "'up' occurs twice; write its targets as up:a|b"),
    ],
)
def test_an_invalid_pair_is_named_with_the_parameter(text, said):
    with pytest.raises(GenerationError, match=f"^parameter 'mine': {re.escape(said)}$"):
        parse_lexicon(text, "mine")
