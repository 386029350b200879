"""Drop a foil that is another caption of the same video, and so true."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.tokens import normal_form
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of other captions with the same text, ignoring case, spaces and punctuation."""
    del others, params
    foil_form = normal_form(foil)
    same = [sibling for sibling in caption.siblings if normal_form(sibling) == foil_form]
    return Verdict(not same, float(len(same)), f"a true caption of the video: {same[0]}" if same else "")
