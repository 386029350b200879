"""Drop a foil without a verb: a filled span may turn a sentence into a list of things (contrast sets, Sec. 3.2)."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of its verbs without auxiliaries; it passes from 1 on."""
    del caption, others
    count = sum(token.part == "VERB" for token in tagger(params["tagger"]).tag(foil))
    return Verdict(count > 0, float(count), "" if count else "it has no verb")
