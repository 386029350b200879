"""Drops a foil whose new words are of another part of speech than those they replace (Feint6K, Sec. 4.2)."""

from collections.abc import Sequence
from typing import Any

from generation.filters._changes import changes
from generation.records import CaptionInput, Verdict
from text.language.tools import tagger

VERSION = "1"
COSTLY = False
# A name in a thing's place is a noun all the same.
SAME = {"PROPN": "NOUN"}


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score: how many edits change the parts of speech; passes at 0."""
    del others
    wrong = [
        f"{' '.join(before)} became {' '.join(after)}"
        for change in changes(caption.text, foil, tagger(params["tagger"]))
        for before in [[SAME.get(token.part, token.part) for token in change.before] or ["nothing"]]
        for after in [[SAME.get(token.part, token.part) for token in change.after] or ["nothing"]]
        if before != after
    ]
    return Verdict(not wrong, float(len(wrong)), "; ".join(wrong[:3]))
