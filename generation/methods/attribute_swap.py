"""Attribute binding: "A wooden spoon is in a metal bowl." -> "A metal spoon is in a wooden bowl."

The foil has the caption's own words: only what they belong to differs. The attributes are those of
`generation.grammar.attributes`; colours are those of the method colour_swap.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.errors import GenerationError
from generation.grammar.attributes import attribute_swaps
from generation.grammar.consistency import why_unsound
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"
NO_PAIR = "no two of its things have different attributes of one dimension"


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each of another pair; no random draws. Both modes do the same."""
    del seed
    check(params)
    tags = tagger(params["tagger"])
    for caption in captions:
        why, rank = NO_PAIR, 0
        for dimension, edits in attribute_swaps(caption.text, tags.tag(caption.text)):
            why = why_unsound(caption.text, edits)
            if why or rank == params["foils"]:
                continue
            facts = {"kind": dimension, "tagger": tags.name}
            yield draft_from_edits(caption, edits, method="attribute_swap", mode=mode, rank=rank, facts=facts)
            rank += 1
        if not rank:
            yield Skip(caption.id, why)
