"""Drop a foil that equals its caption, ignoring case, spaces and punctuation."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.tokens import normal_form
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil 1 if the two texts are the same, else 0; it passes at 0."""
    del others, params
    same = normal_form(foil) == normal_form(caption.text)
    return Verdict(not same, float(same), "same text as the caption" if same else "")
