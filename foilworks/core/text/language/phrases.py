"""Find noun phrases in a tagged caption: their start, end and head noun."""

from collections.abc import Sequence
from dataclasses import dataclass

from foilworks.core.text.language.inflection import PLURAL_ONLY, singular
from foilworks.core.text.language.tokens import Token

INSIDE = ("DET", "ADJ", "NUM", "NOUN", "PROPN")
HEADS = ("NOUN", "PROPN")
POSSESSIVE = frozenset({"my", "your", "his", "her", "its", "our", "their"})
# Measure words before "of": "a sheet of paper" is one phrase with the head "sheet".
PARTS_OF = frozenset(
    {
        "piece",
        "pieces",
        "cup",
        "cups",
        "glass",
        "glasses",
        "bottle",
        "bottles",
        "group",
        "bunch",
        "slice",
        "slices",
        "pair",
        "pairs",
        "sheet",
        "sheets",
        "lid",
        "cap",
        "stack",
        "pile",
        "bowl",
        "box",
        "bag",
        "end",
        "couple",
        "crowd",
    }
)


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase: tokens `first:last` (indices, end exclusive); `head` is the index of its head noun."""

    first: int
    last: int
    head: int

    def text(self, tokens: Sequence[Token], caption: str) -> str:
        return caption[tokens[self.first].start : tokens[self.last - 1].end]


def noun_phrases(tokens: Sequence[Token]) -> list[NounPhrase]:
    """Find the phrases from left to right: article or possessive, numbers, adjectives, nouns. "a sheet of paper" is
    one phrase. Pronouns are not phrases.
    """
    phrases: list[NounPhrase] = []
    at = 0
    for first, token in enumerate(tokens):
        if first < at or not (token.part in INSIDE or (token.part == "PRON" and token.lower in POSSESSIVE)):
            continue
        phrase = _phrase_at(tokens, first)
        if phrase is not None:
            phrases.append(phrase)
            at = phrase.last
    return phrases


def _phrase_at(tokens: Sequence[Token], first: int) -> NounPhrase | None:
    at, head = first, -1
    while at < len(tokens):
        token = tokens[at]
        part_of_speech = token.part
        if part_of_speech in HEADS:
            head = at
        elif part_of_speech == "DET":
            if at > first and tokens[at - 1].part != "DET" and not _is_genitive(tokens, at, first, head):
                break
        elif part_of_speech not in INSIDE and not _belongs(tokens, at, first, head):
            break
        at += 1
    if head < 0:
        return None
    last = head + 1
    if tokens[head].lower in PARTS_OF and last < len(tokens) and tokens[last].lower == "of":
        inner = _phrase_at(tokens, last + 1)
        if inner is not None:
            last = inner.last
    return NounPhrase(first, last, head)


def _is_genitive(tokens: Sequence[Token], at: int, first: int, head: int) -> bool:
    return tokens[at].lower in ("'s", "’s") and head == at - 1 >= first


def _belongs(tokens: Sequence[Token], at: int, first: int, head: int) -> bool:
    """Return whether a word that is no noun or adjective is in the phrase: "her (hat)", "a parked (car)"."""
    part_of_speech = tokens[at].part
    if part_of_speech == "PRON":
        return at == first and tokens[at].lower in POSSESSIVE
    if part_of_speech == "VERB":
        return at > first and _leads(tokens, at)
    return _is_genitive(tokens, at, first, head) or (part_of_speech == "ADV" and _grades(tokens, at, first))


def _grades(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Return whether an adverb stands between an article and an adjective: "a seemingly upset woman"."""
    opened = at > first and tokens[at - 1].part == "DET"
    return opened and at + 2 < len(tokens) and tokens[at + 1].part == "ADJ" and tokens[at + 2].part in ("NOUN", "ADJ")


def _leads(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a participle is between an article and a noun: "a parked car", "a passing car"."""
    before, after = tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else None
    opened = before.part in ("DET", "ADJ", "NUM") or (before.part == "PRON" and before.lower in POSSESSIVE)
    return opened and after is not None and after.part in (*HEADS, "ADJ")


def is_plural_noun(word: str) -> bool:
    """Return whether a noun is plural: "boxes", "people", "scissors"; not "glass", "hand"."""
    lowered = word.lower()
    if lowered in PLURAL_ONLY or lowered in ("people", "police", "glasses"):
        return True
    return singular(lowered) is not None
