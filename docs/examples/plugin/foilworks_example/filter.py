"""Drop foils with too many words."""

from collections.abc import Sequence
from typing import Any

from foilworks.plugins import CaptionInput, Verdict, words

VERSION = "1"


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Return whether the foil passes, its score, and what people read about it."""
    count = len(words(foil))
    return Verdict(count <= params["max"], float(count), f"{count} words")
