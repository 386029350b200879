"""Drop a foil that changes words which its caption denies, asks, wishes or supposes."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.diff import diff_edits
from generation.grammar.assertion import why_unasserted
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False
why = why_unasserted


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil 1 if the caption does not assert the changed words, else 0; it passes at 0."""
    del others, params
    reason = why(caption.text, diff_edits(caption.text, foil))
    return Verdict(not reason, float(bool(reason)), reason)
