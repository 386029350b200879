"""Decide whether one changed word makes two captions exclude each other. Rules over word lists; no model.

`contrast_of` reads the two words alone and is cached: an index asks it for many pairs. `refused_in` reads the captions
around them, with their parts of speech, and is asked for the pairs that are left.
"""

from collections.abc import Sequence
from functools import lru_cache

from foilworks.core.text.language.antonyms import antonyms_of
from foilworks.core.text.language.appearance import CLOTHES
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.living import COLLECTIVES, kind_of
from foilworks.core.text.language.numbers import value_of
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set
from generation.pairs.word_groups import (
    COLOURS,
    DONE_TO,
    FUNCTION_WORDS,
    GENERIC,
    NOUNS,
    VERBS,
    are_synonyms,
    exclude_each_other,
)

OPPOSITE, COUNT, COLOUR, GENDER, LIVING, OBJECT, ACTION, ROLES = (
    "opposite",
    "count",
    "colour",
    "gender",
    "participant",
    "object",
    "action",
    "order of words",
)
# The surest contrasts first: what ranks a proposal, before what its clips share.
RANKS = {OPPOSITE: 6, ROLES: 6, COUNT: 5, ACTION: 4, OBJECT: 4, COLOUR: 3, LIVING: 3, GENDER: 2}
# Each of these pairs differs in gender alone.
GENDERS = ({"man", "woman"}, {"boy", "girl"}, {"guy", "lady"}, {"guy", "girl"})
PARTS = {ACTION: "VERB", OBJECT: "NOUN", GENDER: "NOUN", LIVING: "NOUN"}
# What one wears, holds or adds comes with other things: both captions may be true.
ALSO = word_set("wear add have hold with put mix include use contain sell like need show display feature")
# Opposites that captions do not use as opposites, that may both be true in a clip, or that nobody sees.
NEVER_OPPOSITE = word_set(
    "start stop begin end light top bottom front back hard soft new in answer teach learn hot cold warm cool"
)


# A caption that denies something is true of most clips.
DENIALS = word_set("no not nobody nothing none never without neither nor n't")
# These are lifted and lowered, again and again.
MOVED_BOTH_WAYS = word_set("barbell dumbbell weight leg arm hand head")
# Large to one person, small to another.
LARGE_TO_SOME = COLLECTIVES | word_set("city town village area number amount")
PERSON_COLOURS = word_set("black white brown yellow red")
MOVES = word_set("lift raise lower push pull")


@lru_cache(maxsize=200_000)
def contrast_of(word: str, other_word: str) -> str:
    """Return the kind of contrast of two lower-case words, or "" where both captions could be true."""
    if value_of(word) is not None and value_of(other_word) is not None:
        return COUNT if value_of(word) != value_of(other_word) else ""
    first, second = _lemmas(word), _lemmas(other_word)
    if first & second or not first or not second:
        return ""
    if (first | second) & GENERIC or any(are_synonyms(a, b) for a in first for b in second):
        return ""
    if _are_opposites(first, second):
        return OPPOSITE
    living = kind_of(word), kind_of(other_word)
    if all(living):
        return _kind_of_living(word, other_word, first, second, living)
    for lines, kind in ((VERBS, ACTION), (NOUNS, OBJECT), (COLOURS, COLOUR)):
        if any(exclude_each_other(a, b, lines) is not None for a in first for b in second):
            return kind
    return ""


def can_change(word: str) -> bool:
    """Return whether a change of the word can be a contrast at all."""
    return word not in FUNCTION_WORDS


def _are_opposites(first: frozenset[str], second: frozenset[str]) -> bool:
    if (first | second) & NEVER_OPPOSITE:
        return False
    return any(b in antonyms_of(a) for a in first for b in second)


def _kind_of_living(
    word: str, other_word: str, first: frozenset[str], second: frozenset[str], kinds: tuple[str, str]
) -> str:
    """A man is no woman; persons of other names may be one person, and so may a dog and "an animal"."""
    if "a" in kinds:
        if kinds == ("a", "a"):
            excluded = any(exclude_each_other(a, b, NOUNS) is not None for a in first for b in second)
            return OBJECT if excluded and _is_plural(word) == _is_plural(other_word) else ""
        return LIVING if _is_plural(word) == _is_plural(other_word) else ""
    same_number = _is_plural(word) == _is_plural(other_word)
    return GENDER if same_number and any(pair & first and pair & second for pair in GENDERS) else ""


@lru_cache(maxsize=20_000)
def _lemmas(word: str) -> frozenset[str]:
    return frozenset(lemma for word_lemmas in lemmas(word).values() for lemma in word_lemmas) | (
        frozenset({word}) if lemmas(word) or value_of(word) is not None or antonyms_of(word) else frozenset()
    )


def _is_plural(word: str) -> bool:
    return any(lemma != word for lemma in lemmas(word).get("NOUN", ()))


def refused_in(tokens: Sequence[Token], other_tokens: Sequence[Token], kind: str) -> str:
    """Return why the captions, equal but for one token, could both be true of a clip; "" if they exclude each other."""
    differing = [number for number, (a, b) in enumerate(zip(tokens, other_tokens, strict=False)) if a.lower != b.lower]
    if len(tokens) != len(other_tokens) or len(differing) != 1:
        return "more than one word differs"
    word, other_word = tokens[differing[0]], other_tokens[differing[0]]
    if word.part != other_word.part or (word.part == "VERB" and word.tag != other_word.tag):
        return "the two words are no two of one part of speech"
    word_class = PARTS.get(kind, word.part)
    if word.part not in (word_class, "PROPN" if word_class == "NOUN" else word_class):
        return "the words are used as another part of speech"
    lower_words = {token.lower for token in tokens}
    if lower_words & DENIALS or any(lower_word.endswith(("n't", "n’t")) for lower_word in lower_words):
        return "the caption denies something, which is true of most clips"
    if kind in (COLOUR, OPPOSITE):
        return _refused_look(tokens, differing[0])
    if kind == ACTION:
        return _refused_action(tokens, other_tokens, differing[0])
    if kind == OBJECT and _adds_to(tokens, differing[0]):
        return "the clip may show both things"
    return ""


def _refused_action(tokens: Sequence[Token], other_tokens: Sequence[Token], index: int) -> str:
    row = exclude_each_other(tokens[index].lemma, other_tokens[index].lemma, VERBS)
    if row is None:
        return "the two actions may happen together"
    has_object = any(token.part in ("NOUN", "PROPN") for token in tokens[index + 1 : index + 5])
    if VERBS[row] == DONE_TO and not has_object:
        return "the two actions may be done to different things"
    return ""


def _refused_look(tokens: Sequence[Token], index: int) -> str:
    """Refuse the colour of a person, and the size of a group, which nobody can count from a clip."""
    behind = next((token for token in tokens[index + 1 :] if token.part in ("NOUN", "PROPN")), None)
    if behind is None or tokens[index].part == "ADP":
        return ""
    if tokens[index].part == "ADJ" and (
        behind.lemma in LARGE_TO_SOME
        or (tokens[index].lower in PERSON_COLOURS and kind_of(behind.lower) in ("m", "f", "n"))
    ):
        return "the word says how somebody looks, or how large a group is, which people judge in different ways"
    if tokens[index].lemma in MOVES and behind.lemma in MOVED_BOTH_WAYS:
        return "the thing moves both ways in turn"
    return ""


def _adds_to(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the thing is one of several: worn, held, added, or joined by "and"."""
    before = tokens[max(0, index - 4) : index]
    near = {token.lemma for token in before} | {token.lower for token in tokens[max(0, index - 2) : index + 2]}
    return bool(near & (ALSO | {"and", "or"})) or tokens[index].lower in CLOTHES
