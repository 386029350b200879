"""Drop a foil whose new words have another part of speech than the words they replace (Feint6K, Sec. 4.2)."""

from collections.abc import Sequence
from typing import Any

from generation.filters._changes import changes
from generation.records import CaptionInput, Verdict
from text.language.tools import tagger

VERSION = "1"
COSTLY = False
# A name that replaces a thing is a noun, too.
SAME = {"PROPN": "NOUN"}


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of edits that change parts of speech; it passes at 0."""
    del others
    wrong = [
        f"{' '.join(before)} became {' '.join(after)}"
        for change in changes(caption.text, foil, tagger(params["tagger"]))
        for before in [[SAME.get(token.part, token.part) for token in change.before] or ["nothing"]]
        for after in [[SAME.get(token.part, token.part) for token in change.after] or ["nothing"]]
        if before != after
    ]
    return Verdict(not wrong, float(len(wrong)), "; ".join(wrong[:3]))
