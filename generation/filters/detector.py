"""Drop a foil whose new thing a detector sees in the video's frames.

The paper uses DETR, 8 frames and scores over .8 (ViLMA, Sec. C.5). The caption's fact "objects" lists the things seen:
runs add it if the video has a file (generation/detections.py).
"""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.filters._changes import changes
from generation.grammar.synonyms import seen_as
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Reject a foil whose new thing is seen; there is no score."""
    del others
    detected_labels = frozenset(str(label) for label in caption.facts.get("objects", ()))
    if not detected_labels:
        return Verdict(True, None, "the objects in the frames are not known")
    for change in changes(caption.text, foil, tagger(params["tagger"])):
        nouns = [token for token in change.after if token.part in ("NOUN", "PROPN")]
        # "a wine glass": the words together, then each alone.
        for noun in (" ".join(token.lower for token in nouns), *(token.lower for token in nouns)):
            label = seen_as(noun, detected_labels) if noun else ""
            if label:
                return Verdict(False, None, f"'{noun}' is seen in the video (as {label})")
    return Verdict(True, None, "")
