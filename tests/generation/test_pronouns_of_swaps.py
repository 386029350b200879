"""Whether "her" is a possession or a person, by the parts of speech behind it, and whose pronoun it is."""

import pytest

from foilworks.core.text.language.tokens import Token
from generation.grammar.genders import mentions_in
from generation.methods.gender_swap import (
    _describes,
    _is_before_determiner,
    _is_of_another,
    _is_possessive,
    _joins,
    _opposite_pronoun,
)


def tokens(sentence: str) -> list[Token]:
    """Read `word/PART/TAG/lemma`, of which the word and its part are needed."""
    found, at = [], 0
    for piece in sentence.split():
        text, part, tag, lemma = [*piece.split("/"), "", ""][:4]
        found.append(Token(at, at + len(text), text, part, lemma or text.lower(), tag))
        at += len(text) + 1
    return found


def possessive(behind: str, verb: str = "hugs/VERB/VBZ/hug") -> bool | None:
    given = tokens(f"man/NOUN {verb} her/PRON {behind}")
    return _is_possessive(given, 2)


@pytest.mark.parametrize(
    "behind",
    ["./PUNCT", "in/ADP", "and/CCONJ", "while/SCONJ", "the/DET", "it/PRON", "is/AUX", "to/PART", "", "everywhere/ADV"],
)
def test_a_person_is_meant_before_these_parts_of_speech(behind):
    assert not possessive(behind)


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("bag/NOUN", True),
        ("Anna/PROPN", True),
        ("two/NUM bags/NOUN", True),
        ("own/ADJ", True),
        ("very/ADV own/ADJ bag/NOUN", True),
        ("red/ADJ bag/NOUN", True),
        ("long/ADJ ,/PUNCT wet/ADJ hair/NOUN", True),
        ("long/ADJ and/CCONJ wet/ADJ hair/NOUN", True),
        ("long/ADJ or/CCONJ wet/ADJ hair/NOUN", True),
        ("long/ADJ but/CCONJ wet/ADJ hair/NOUN", False),
        ("long/ADJ ,/PUNCT hair/NOUN", False),
        ("long/ADJ ,/PUNCT", False),
        ("long/ADJ two/NUM bags/NOUN", True),
        ("angry/ADJ", False),
        ("angry/ADJ and/CCONJ he/PRON", False),
        ("only/ADV child/NOUN", True),
        ("recently/ADV child/NOUN", False),
        ("recently/ADV adopted/VERB/VBN dog/NOUN", True),
        ("recently/ADV adopted/VERB/VBD dog/NOUN", None),
        ("recently/ADV adopted/VERB/VBD", False),
        ("crying/VERB/VBG baby/NOUN", True),
        ("crying/VERB/VBG", False),
        ("carrying/VERB/VBG bags/NOUN", None),
        ("quickly/ADV", False),
    ],
)
def test_what_is_behind_her_says_whether_it_is_hers(behind, found):
    assert possessive(behind) is found


@pytest.mark.parametrize(
    ("verb", "behind", "found"),
    [
        # The recipient of two objects, or the owner of one.
        ("gives/VERB/VBZ/give", "flowers/NOUN", None),
        ("gives/VERB/VBZ/give", "flower/NOUN", True),
        ("gives/VERB/VBZ/give", "two/NUM flowers/NOUN", None),
        ("hugs/VERB/VBZ/hug", "flowers/NOUN", True),
        ("hugs/VERB/VBZ/hug", "two/NUM flowers/NOUN", True),
        # What she does is seen, or a thing of hers.
        ("sees/VERB/VBZ/see", "walk/NOUN", None),
        ("sees/VERB/VBZ/see", "bag/NOUN", None),
        ("sees/VERB/VBZ/see", "walks/NOUN", True),
        ("sees/VERB/VBZ/see", "riding/VERB/VBG horse/NOUN", None),
        ("films/VERB/VBZ/film", "riding/VERB/VBG horse/NOUN", None),
        ("hugs/VERB/VBZ/hug", "riding/VERB/VBG horse/NOUN", True),
        # A result of the verb, tagged as a noun.
        ("keeps/VERB/VBZ/keep", "warm/NOUN", None),
        ("keeps/VERB/VBZ/keep", "warm/NOUN coat/NOUN", True),
        ("hugs/VERB/VBZ/hug", "red/NOUN", True),
        ("paints/VERB/VBZ/paint", "red/NOUN", None),
        # The verb must be right before her.
        ("gives/VERB/VBZ/give to/ADP", "flowers/NOUN", True),
    ],
)
def test_the_verb_before_her_says_whether_it_is_hers(verb, behind, found):
    given = tokens(f"man/NOUN {verb} her/PRON {behind}")
    at = next(place for place, token in enumerate(given) if token.text == "her")
    assert _is_possessive(given, at) is found


def test_a_word_that_joins_is_between_two_that_describe():
    given = tokens("long/ADJ ,/PUNCT wet/ADJ and/CCONJ hair/NOUN and/CCONJ")
    assert [_joins(given, at) for at in range(6)] == [False, True, False, False, False, False]


def test_participles_describe_and_nouns_that_are_only_adjectives():
    given = tokens("red/ADJ adopted/VERB/VBN crying/VERB/VBG cries/VERB/VBZ bag/NOUN blonde/ADV")
    assert [_describes(token) for token in given] == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("sentence", "mode", "found"),
    [
        ("he/PRON", "corrected", "she"),
        ("him/PRON", "corrected", "her"),
        ("his/PRON bag/NOUN", "corrected", "her"),
        ("his/PRON", "corrected", "hers"),
        ("his/PRON the/DET", "corrected", "her"),
        ("his/PRON mine/PRON craft/NOUN", "corrected", "her"),
        ("his/PRON ./PUNCT", "corrected", "hers"),
        ("her/PRON bag/NOUN", "corrected", "his"),
        ("her/PRON ./PUNCT", "corrected", "him"),
        ("her/PRON ./PUNCT", "paper", "his"),
        ("her/PRON recently/ADV adopted/VERB/VBD dog/NOUN", "corrected", None),
    ],
)
def test_a_pronoun_becomes_that_of_the_other_gender(sentence, mode, found):
    given = tokens(sentence)
    assert _opposite_pronoun(given, 0, given[0].text, mode) == found


def test_a_determiner_or_pronoun_behind_his_is_part_of_a_name():
    assert _is_before_determiner(tokens("his/PRON the/DET"), 0)
    assert _is_before_determiner(tokens("his/PRON mine/PRON"), 0)
    assert not _is_before_determiner(tokens("his/PRON ./PUNCT"), 0)
    assert not _is_before_determiner(tokens("his/PRON"), 0)


@pytest.mark.parametrize(
    ("sentence", "is_another"),
    [
        ("man/NOUN waves/VERB and/CCONJ thanks/VERB him/PRON", True),
        ("man/NOUN waves/VERB or/CCONJ thanks/VERB him/PRON", True),
        ("man/NOUN waves/VERB ,/PUNCT thanks/VERB him/PRON", True),
        ("man/NOUN waves/VERB then/ADV thanks/VERB him/PRON", True),
        ("man/NOUN is/AUX waved/VERB and/CCONJ is/AUX thanking/VERB him/PRON", True),
        ("man/NOUN is/AUX here/ADV and/CCONJ often/ADV thanks/VERB him/PRON", True),
        ("man/NOUN waves/VERB while/SCONJ a/DET dog/NOUN bites/VERB him/PRON", False),
        ("man/NOUN thanks/VERB him/PRON", False),
        ("man/NOUN behind/ADP him/PRON", False),
    ],
)
def test_a_verb_behind_and_has_the_same_subject(sentence, is_another):
    given = tokens(sentence)
    noun = mentions_in("man")[0]
    at = next(place for place, token in enumerate(given) if token.text == "him")
    assert _is_of_another(given, noun, at) is is_another
