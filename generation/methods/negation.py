"""Negation: "A dog that is not on a leash runs." -> "… is on a leash …", "catches" -> "does not catch".

The foils are those of `generation.grammar.negations`: false by construction, because they deny what the caption says.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.grammar.negations import negations
from generation.methods._rules import sound_foils
from generation.records import CaptionInput, FoilDraft, Skip

VERSION = "1"
NO_VERB = "it neither denies anything nor has one simple clause with an outcome"


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, without random draws. Both modes do the same."""
    del seed
    tags = tagger(params["tagger"])
    for caption in captions:
        options = ((edits, {"tagger": tags.name}) for edits in islice(negations(tags.tag(caption.text)), 1))
        yield from sound_foils(caption, options, method="negation", mode=mode, most=1, none=NO_VERB)
