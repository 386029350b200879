"""Negation: "A dog that is not on a leash runs." -> "… is on a leash …", "starts running" -> "stops running".

The foils are those of `generation.grammar.negations`: false by construction, because they deny what the caption says.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.errors import GenerationError
from generation.grammar.consistency import why_unsound
from generation.grammar.negations import negations
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"
# With which the balanced draw can choose among all kinds.
BEFORE_DRAW = {"foils": 5}
NO_WORD = "nothing in it begins, ends, happens again or is denied, and it has more than one simple clause"


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each in another way; no random draws. Both modes do the same."""
    del seed
    check(params)
    tags = tagger(params["tagger"])
    for caption in captions:
        why, rank = NO_WORD, 0
        for kind, edits in negations(caption.text, tags.tag(caption.text)):
            why = why_unsound(caption.text, edits)
            if why or rank == params["foils"]:
                continue
            facts = {"kind": kind, "tagger": tags.name}
            yield draft_from_edits(caption, edits, method="negation", mode=mode, rank=rank, facts=facts)
            rank += 1
        if not rank:
            yield Skip(caption.id, why)
