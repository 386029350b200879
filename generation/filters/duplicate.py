"""Drop a foil that repeats another foil of its caption, ignoring case, spaces and punctuation."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.tokens import normal_form
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of `others` with the same text; it passes at 0."""
    del caption, params
    foil_form = normal_form(foil)
    twins = [text for text in others if normal_form(text) == foil_form]
    return Verdict(not twins, float(len(twins)), f"same text as: {twins[0]}" if twins else "")
