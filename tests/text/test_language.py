import subprocess
import sys

import pytest

from foilworks.core.text.language.inflection import article, can_be, plain_verb, plural, singular, third_person
from foilworks.core.text.language.numbers import match_case, value_of, written_like


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("time", "times"),
        ("push-up", "push-ups"),
        ("press", "presses"),
        ("man", "men"),
        ("person", "people"),
        ("child", "children"),
        ("foot", "feet"),
        ("knife", "knives"),
        ("lady", "ladies"),
    ],
)
def test_singular_and_plural(one, many):
    assert plural(one) == many
    assert singular(many) == one


@pytest.mark.parametrize("word", ["glass", "bus", "gas", "press", "clockwise", "series", "man", "upright"])
def test_a_word_that_is_not_plural_has_no_singular(word):
    assert singular(word) is None


@pytest.mark.parametrize(
    ("plain", "third"),
    [("jump", "jumps"), ("push", "pushes"), ("try", "tries"), ("play", "plays"), ("are", "is"), ("go", "goes")],
)
def test_verbs_agree_in_both_directions(plain, third):
    assert third_person(plain) == third
    assert plain_verb(third) == plain


@pytest.mark.parametrize("word", ["table", "jump", "men", "always"])
def test_a_word_that_is_not_third_person_has_no_plain_form(word):
    assert plain_verb(word) is None


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("apple", "an"),
        ("hour", "an"),
        ("unicorn", "a"),
        ("one-eyed", "a"),
        ("8", "an"),
        ("18", "an"),
        ("80", "an"),
        ("1", "a"),
        ("European", "a"),
        ("octagon", "an"),
        ("", "a"),
    ],
)
def test_article(word, expected):
    assert article(word) == expected


@pytest.mark.parametrize(
    ("word", "value"),
    [("three", 3), ("Ten", 10), ("once", 1), ("TWICE", 2), ("07", 7), ("forty", 40), ("many", None), ("٣", None)],
)
def test_values(word, value):
    assert value_of(word) == value


def test_numbers_keep_the_way_they_are_written():
    assert [written_like(4, source) for source in ("3", "three", "Three", "THREE")] == ["4", "four", "Four", "FOUR"]
    assert match_case("A", "an") == "An"


def test_parts_of_speech_come_from_the_lexicon():
    assert can_be("jump", "NOUN")
    assert can_be("jump", "VERB")
    assert not can_be("table", "ADV")


def test_the_language_tools_load_no_model_library():
    """lemminflect's package file would import spaCy, and spaCy torch, wherever they are installed."""
    code = (
        "import sys; from foilworks.core.text.language.inflection import lemmas; "
        "assert lemmas('jumps')['VERB'] == ('jump',); "
        "print([name for name in ('spacy', 'torch', 'thinc') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
