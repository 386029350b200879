"""Colour swap: "A red ball hits a blue box" -> "A blue ball hits a red box".

The foil has the caption's own words: only the assignment of colours differs. Not swapped, since the foil could be true:
colours of one thing ("red and white shirt"), of two things of one name ("a red car and a blue car"), and names of
things ("orange juice", "an orange").
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.errors import GenerationError
from generation.grammar.surface import phrase_pattern, replace_phrase, word_set
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Shortfall, Skip, draft_from_edits

VERSION = "1"
COLOURS = word_set("red orange yellow green blue purple violet pink brown black white grey gray beige turquoise golden")
SAME = {"gray": "grey", "violet": "purple"}
PATTERN = phrase_pattern(sorted(COLOURS))
# With its colour each is the name of a thing, whatever its actual colour: a foil would not be English.
KINDS = word_set(
    "juice wine pepper peppers tea onion onions coffee belt card bean beans rice bread sugar cabbage beer meat board",
)
# Only these may be between two colours of one thing.
JOINING = word_set("and or , / & - the a an")
# Keeps the time linear for captions of 10^6 characters.
MAX_COLOURS = 12


@dataclass(frozen=True)
class ColourMention:
    """A colour in the caption: the index of its token, the colour, and the lemma of its thing."""

    token_index: int
    colour: str
    noun: str


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip | Shortfall]:
    """Make up to params["foils"] foils per caption, each of another pair of colours. Both modes do the same."""
    check(params)
    tags = tagger(params["tagger"])
    for caption in captions:
        if len(list(PATTERN.finditer(caption.text))) < 2:
            yield Skip(caption.id, "it names fewer than two colours")
            continue
        tokens = tags.tag(caption.text)
        colours = _swappable_colours(tokens)
        pairs = [
            pair
            for pair in combinations(colours, 2)
            if pair[0].colour != pair[1].colour and _belong_to_different_nouns(*pair)
        ]
        if not pairs:
            yield Skip(caption.id, "no two of its colours belong to different things")
            continue
        swapped_pairs = generator_for(seed, "colour_swap", caption.id).sample(pairs, min(params["foils"], len(pairs)))
        for rank, (first, second) in enumerate(swapped_pairs):
            edits = _exchanged(caption.text, tokens[first.token_index], tokens[second.token_index])
            facts = {"things": [first.noun, second.noun], "tagger": tags.name}
            yield draft_from_edits(caption, edits, method="colour_swap", mode=mode, rank=rank, facts=facts)
        if len(swapped_pairs) < params["foils"]:
            yield Shortfall(caption.id, ("no further two of its colours belong to different things",))


def _exchanged(text: str, first: Token, second: Token) -> list[Any]:
    return [
        *replace_phrase(text, first.start, first.end, second.lower),
        *replace_phrase(text, second.start, second.end, first.lower),
    ]


def _belong_to_different_nouns(first: ColourMention, second: ColourMention) -> bool:
    return bool(first.noun) and bool(second.noun) and first.noun != second.noun


def _swappable_colours(tokens: Sequence[Token]) -> list[ColourMention]:
    """Return the colours of things with a single colour, from left to right."""
    indices = [index for index, token in enumerate(tokens) if PATTERN.fullmatch(token.text)][:MAX_COLOURS]
    joined_indices = {
        index
        for before, after in pairwise(indices)
        if all(token.lower in JOINING for token in tokens[before + 1 : after])
        for index in (before, after)
    }
    colours = []
    for index in indices:
        noun = _head_lemma(tokens, index)
        if index not in joined_indices and noun is not None:
            colours.append(ColourMention(index, SAME.get(tokens[index].lower, tokens[index].lower), noun))
    return colours


def _head_lemma(tokens: Sequence[Token], index: int) -> str | None:
    """Return the thing with the colour: the noun after it, else the last noun before it; None if it names a thing."""
    end = index + 1
    while end < len(tokens) and tokens[end].part == "ADJ":
        end += 1
    nouns = []
    while end < len(tokens) and tokens[end].part in ("NOUN", "PROPN"):
        nouns.append(tokens[end])
        end += 1
    if nouns:
        return None if nouns[0].lower in KINDS else nouns[-1].lemma
    if index and tokens[index - 1].part in ("DET", "NUM"):
        return None
    return next((token.lemma for token in reversed(tokens[:index]) if token.part == "NOUN"), "")
