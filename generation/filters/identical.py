"""Drops a foil that says what the caption says: the same but for case, spaces and punctuation."""

from collections.abc import Sequence
from typing import Any

from generation.records import CaptionInput, Verdict
from text.tokens import normal_form

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score 1 where the two are the same text, else 0; passes at 0."""
    del others, params
    same = normal_form(foil) == normal_form(caption.text)
    return Verdict(not same, float(same), "the same text as the caption" if same else "")
