"""Direction and manner: "The skater spins clockwise." -> "… counterclockwise", "slowly walks" -> "quickly walks".

The words are those of `generation.grammar.directions`. Prepositions with a place ("up the stairs") are those of the
method preposition.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from generation.errors import GenerationError
from generation.grammar.consistency import why_unsound
from generation.grammar.directions import directions
from generation.grammar.surface import replace_phrase
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"
# With which the balanced draw can choose among all opposites.
BEFORE_DRAW = {"foils": 5}
NO_WORD = "it has no word of direction or manner with a clear opposite"


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each with another word; no random draws. Both modes do the same."""
    del seed
    check(params)
    for caption in captions:
        why, rank = NO_WORD, 0
        for opposite in directions(caption.text):
            edits = replace_phrase(caption.text, opposite.start, opposite.end, opposite.target)
            why = why_unsound(caption.text, edits)
            if why or rank == params["foils"]:
                continue
            source = caption.text[opposite.start : opposite.end].lower()
            facts = {"kind": opposite.kind, "from": source, "to": opposite.target}
            yield draft_from_edits(caption, edits, method="direction", mode=mode, rank=rank, facts=facts)
            rank += 1
        if not rank:
            yield Skip(caption.id, why)
