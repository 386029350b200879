"""Captions of the same words in another order: who does what to whom, or which thing has which look."""

from collections.abc import Sequence

from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.swap_refusals import SHARING, SYMMETRIC
from generation.pairs.word_groups import FUNCTION_WORDS

# Longest part that changes places, in words.
MAX_PART = 3
# Between two parts, these say that their order does not matter.
EVEN = SYMMETRIC | SHARING | word_set("and or with talk speak chat dance sing play compete versus vs meet")


def exchanged(words: Sequence[str], other_words: Sequence[str]) -> tuple[str, str] | None:
    """Return the two parts that changed places, or None if the texts differ in another way or still agree.

    `x middle y` became `y middle x`: both parts have a content word of one kind, and the middle is more than "and".
    """
    start = _common(words, other_words)
    end = _common(words[::-1][: len(words) - start], other_words[::-1][: len(other_words) - start])
    differing_words, other_differing_words = (
        list(words[start : len(words) - end]),
        list(other_words[start : len(other_words) - end]),
    )
    for n_first in range(1, MAX_PART + 1):
        for n_last in range(1, MAX_PART + 1):
            if len(differing_words) <= n_first + n_last:
                continue
            first, middle, last = differing_words[:n_first], differing_words[n_first:-n_last], differing_words[-n_last:]
            if [*last, *middle, *first] == other_differing_words:
                return (" ".join(first), " ".join(last)) if _matters(first, middle, last) else None
    return None


def _common(words: Sequence[str], other_words: Sequence[str]) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(words, other_words, strict=False)) if a != b),
        min(len(words), len(other_words)),
    )


def _matters(first: list[str], middle: list[str], last: list[str]) -> bool:
    middle_lemmas = {
        lemma for word in middle for class_lemmas in lemmas(word).values() for lemma in class_lemmas
    } | set(middle)
    if middle_lemmas & EVEN or not middle_lemmas - FUNCTION_WORDS:
        return False
    return any(_kind(a) and _kind(a) == _kind(b) for a in first[-1:] for b in last[-1:])


def _kind(word: str) -> str:
    """Return one letter for nouns and adjectives that can change places; "" for other words."""
    if word in FUNCTION_WORDS:
        return ""
    classes = lemmas(word)
    if kind_of(word) or ("NOUN" in classes and "ADV" not in classes):
        return "noun"
    return "look" if "ADJ" in classes else ""
