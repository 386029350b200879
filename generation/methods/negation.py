"""Negation: "A man with no hat waves." -> "A man with a hat waves.", and the reverse.

The foils are those of `generation.grammar.negations`: false by construction, because they deny what the caption says.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.grammar.negations import negations
from generation.methods._random import generator_for
from generation.methods._rules import sound_foils
from generation.records import CaptionInput, FoilDraft, Skip

VERSION = "2"
NO_VERB = "it neither has nor lacks a thing that captions deny"


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption; only the colours of shirts are random. Both modes do the same."""
    tags = tagger(params["tagger"])
    for caption in captions:
        generator = generator_for(seed, "negation", caption.id)
        options = (
            (edits, {"tagger": tags.name}) for edits in negations(caption.text, tags.tag(caption.text), generator)
        )
        yield from sound_foils(caption, options, method="negation", mode=mode, most=1, none=NO_VERB)
