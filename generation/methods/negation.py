"""Negation: "A dog that is not on a leash runs." -> "… is on a leash …", "catches" -> "does not catch".

The foils are those of `generation.grammar.negations`: false by construction, because they deny what the caption says.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.grammar.consistency import why_unsound
from generation.grammar.negations import negations
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"
NO_VERB = "it neither denies anything nor has one simple clause with an outcome"


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, without random draws. Both modes do the same."""
    del seed
    tags = tagger(params["tagger"])
    for caption in captions:
        edits = next(negations(tags.tag(caption.text)), [])
        why = why_unsound(caption.text, edits) if edits else NO_VERB
        if why:
            yield Skip(caption.id, why)
        else:
            yield draft_from_edits(caption, edits, method="negation", mode=mode, facts={"tagger": tags.name})
