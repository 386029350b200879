"""Mirror: "A dog runs from left to right" -> "A dog runs from right to left". Every side changes."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.plugins import CaptionInput, Edit, FoilDraft, Skip, draft_from_edits

VERSION = "1"
OPPOSITES = {"left": "right", "right": "left", "up": "down", "down": "up"}
SIDE = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Yield one foil per caption, or the reason why there is none."""
    for caption in captions:
        found = list(SIDE.finditer(caption.text))[: params["max"]]
        edits = [Edit(*match.span(), OPPOSITES[match.group()]) for match in found]
        if edits:
            yield draft_from_edits(caption, edits, method="mirror", mode=mode, facts={"sides": len(edits)})
        else:
            yield Skip(caption.id, "it names no side (left, right, up, down)")
