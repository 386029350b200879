"""Words with opposites that may replace them, found by patterns; shared by methods whose foil changes one word."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generation.grammar.surface import WORD_ENDS, WORD_STARTS


@dataclass(frozen=True)
class Opposition:
    """A kind of meaning, where its words are (the group "word"), and word -> the opposites that may replace it."""

    kind: str
    pattern: re.Pattern[str]
    targets: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Opposite:
    """Characters `start:end` of a caption and an opposite of them."""

    kind: str
    start: int
    end: int
    target: str


def both_ways(first: str, second: str) -> dict[str, tuple[str, ...]]:
    """Return word -> its opposites, from two lists of words of which each means the opposite of each other one."""
    sides = first.split(), second.split()
    return {word: tuple(sides[1 - side]) for side in (0, 1) for word in sides[side]}


def opposition(kind: str, targets: dict[str, tuple[str, ...]], before: str = "", after: str = "") -> Opposition:
    """Return the opposition of words behind `before` and in front of `after`; both are patterns."""
    words = "|".join(sorted(map(re.escape, targets), key=lambda word: (-len(word), word)))
    lead = rf"(?:{before})\s+" if before else ""
    pattern = re.compile(rf"{WORD_STARTS}{lead}(?P<word>{words}){WORD_ENDS}{after}", re.IGNORECASE)
    return Opposition(kind, pattern, targets)


def opposites_in(text: str, oppositions: Iterable[Opposition]) -> Iterator[Opposite]:
    """Yield the opposites of each word that a pattern finds, by opposition and position."""
    for row in oppositions:
        for match in row.pattern.finditer(text):
            start, end = match.span("word")
            for target in row.targets[match["word"].lower()]:
                yield Opposite(row.kind, start, end, target)
