"""Attribute binding: "A wooden spoon is in a metal bowl." -> "A metal spoon is in a wooden bowl."

The foil has the caption's own words: only what they belong to differs. The attributes are those of
`generation.grammar.attributes`; colours are those of the method colour_swap.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.grammar.attributes import attribute_swaps
from generation.methods._rules import check_counts, sound_foils
from generation.records import CaptionInput, FoilDraft, Skip

VERSION = "2"
NO_PAIR = "no two of its things have different attributes of one dimension"


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each of another pair; no random draws. Both modes do the same."""
    del seed
    check(params)
    tags = tagger(params["tagger"])
    for caption in captions:
        options = (
            (edits, {"kind": dimension, "tagger": tags.name})
            for dimension, edits in attribute_swaps(caption.text, tags.tag(caption.text))
        )
        yield from sound_foils(caption, options, method="attribute_swap", mode=mode, most=params["foils"], none=NO_PAIR)
