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


def exchanged(words: Sequence[str], others: Sequence[str]) -> tuple[str, str] | None:
    """Return the two parts that changed places, or None if the texts differ in another way or still agree.

    `x middle y` became `y middle x`: both parts have a content word of one kind, and the middle is more than "and".
    """
    start = _common(words, others)
    end = _common(words[::-1][: len(words) - start], others[::-1][: len(others) - start])
    mine, theirs = list(words[start : len(words) - end]), list(others[start : len(others) - end])
    for left in range(1, MAX_PART + 1):
        for right in range(1, MAX_PART + 1):
            if len(mine) <= left + right:
                continue
            first, middle, last = mine[:left], mine[left:-right], mine[-right:]
            if [*last, *middle, *first] == theirs:
                return (" ".join(first), " ".join(last)) if _matters(first, middle, last) else None
    return None


def _common(words: Sequence[str], others: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(words, others, strict=False)) if a != b), min(len(words), len(others))
    )


def _matters(first: list[str], middle: list[str], last: list[str]) -> bool:
    said = {lemma for word in middle for found in lemmas(word).values() for lemma in found} | set(middle)
    if said & EVEN or not said - FUNCTION_WORDS:
        return False
    return any(_kind(a) and _kind(a) == _kind(b) for a in first[-1:] for b in last[-1:])


def _kind(word: str) -> str:
    """Return one letter for nouns and adjectives that can change places; "" for other words."""
    if word in FUNCTION_WORDS:
        return ""
    found = lemmas(word)
    if kind_of(word) or ("NOUN" in found and "ADV" not in found):
        return "noun"
    return "look" if "ADJ" in found else ""
