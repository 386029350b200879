"""Deterministic word swaps, for tests, the demo, and object swaps from your own list.

With a lexicon, each listed word or phrase in the caption can become each of its targets that the caption lacks.
Without one, a longer word drawn by seed becomes a noun of a fixed list: a foil for any caption that has a word.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from generation.grammar.surface import WORD_ENDS, WORD_STARTS, is_mentioned, phrase_pattern, replace_phrase
from generation.methods._lexicon import parse_lexicon
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "2"
BOTH_LISTED = "it has a word of the lexicon and its replacement"
NONE_LISTED, NO_WORD = "it has no word of the lexicon", "it has no word to replace"
NOUNS = ("anchor", "balloon", "candle", "drum", "elephant", "feather", "guitar", "hammer", "island", "jacket")
MIN_LETTERS = 4
ENGLISH_WORD = re.compile(rf"{WORD_STARTS}[A-Za-z]+{WORD_ENDS}")

Swap = tuple[int, int, str]


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")
    parse_lexicon(params["lexicon"], "lexicon")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, first occurrences first."""
    check(params)
    lexicon = parse_lexicon(params["lexicon"], "lexicon")
    pattern = phrase_pattern(list(lexicon)) if lexicon else None
    for caption in captions:
        rng = generator_for(seed, "fake", caption.id)
        swaps, why = [], NO_WORD
        if pattern:
            for match in pattern.finditer(caption.text):
                targets = lexicon[" ".join(match.group().lower().split())]
                swaps += [(match.start(), match.end(), target) for target in rng.sample(targets, len(targets))]
            why = BOTH_LISTED if swaps else NONE_LISTED
            swaps = [swap for swap in swaps if not is_mentioned(swap[2], caption.text, [])]
        else:
            swaps = _any_swaps(caption.text, rng.sample(NOUNS, len(NOUNS)), rng.random())
        if not swaps:
            yield Skip(caption.id, why)
        yield from _drafts(caption, swaps[: params["foils"]], mode)


def _any_swaps(text: str, nouns: list[str], share: float) -> list[Swap]:
    """Replace the word at position `share` (0..1) of the longer words by each noun that the caption lacks."""
    matches = list(ENGLISH_WORD.finditer(text))
    longer = [match for match in matches if len(match.group()) >= MIN_LETTERS] or matches
    if not longer:
        return []
    start, end = longer[int(share * len(longer))].span()
    present = {match.group().lower() for match in matches}
    return [(start, end, noun) for noun in nouns if noun not in present]


def _drafts(caption: CaptionInput, swaps: list[Swap], mode: str) -> Iterator[FoilDraft]:
    for rank, (start, end, target) in enumerate(swaps):
        edits = replace_phrase(caption.text, start, end, target)
        yield draft_from_edits(caption, edits, method="fake", mode=mode, rank=rank)
