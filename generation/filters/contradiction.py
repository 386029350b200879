"""Drop a foil that contradicts the rest of its caption, says the same, or has an error of grammar."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.diff import diff_edits
from generation.grammar.consistency import why_contradicted
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False
why = why_contradicted


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil 1 if the rest of the caption does not fit its change, else 0; it passes at 0."""
    del others, params
    reason = why(caption.text, diff_edits(caption.text, foil))
    return Verdict(not reason, float(bool(reason)), reason)
