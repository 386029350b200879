"""Direction and manner: "The skater spins clockwise." -> "… counterclockwise", "slowly walks" -> "quickly walks".

The words are those of `generation.grammar.directions`. Prepositions with a place ("up the stairs") are those of the
method preposition.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.diff import Edit
from generation.grammar.directions import directions
from generation.grammar.surface import replace_phrase
from generation.methods._rules import check_counts, sound_foils
from generation.records import CaptionInput, FoilDraft, Skip

VERSION = "2"
# With which the balanced draw can choose among all opposites.
BEFORE_DRAW = {"foils": 5}
NO_WORD = "it has no word of direction or manner with a clear opposite"


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each with another word; no random draws. Both modes do the same."""
    del seed
    check(params)
    for caption in captions:
        yield from sound_foils(
            caption, _options(caption.text), method="direction", mode=mode, most=params["foils"], none=NO_WORD
        )


def _options(text: str) -> Iterator[tuple[list[Edit], dict[str, Any]]]:
    for opposite in directions(text):
        source = text[opposite.start : opposite.end].lower()
        edits = replace_phrase(text, opposite.start, opposite.end, opposite.target)
        yield edits, {"kind": opposite.kind, "from": source, "to": opposite.target}
