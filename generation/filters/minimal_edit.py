"""Drop a foil that changes too many words, or an entity of the caption.

Negatives keep "the same text structure and object entities" (Feint6K, Sec. 3.1).

Entities are the names in the caption (capitals inside a sentence) and what its facts list under "entities".
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from foilworks.core.text.diff import changed_words, diff_edits
from foilworks.core.text.tokens import whole_words
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False

NAME = re.compile(r"(?<![.!?:]\s)(?<=\s)(?!I\b)[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*")


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by its changed words, ignoring case and punctuation; it passes up to params["max_words"]."""
    del others
    n_changed = changed_words(caption.text, foil)
    why = []
    if n_changed > params["max_words"]:
        why.append(f"{n_changed} words changed, at most {params['max_words']} allowed")
    if params["entities"] == "keep":
        lost_entities = list(_lost_entities(caption, foil))
        if lost_entities:
            why.append(f"an entity changed: {', '.join(lost_entities[:3])}")
    return Verdict(not why, float(n_changed), "; ".join(why))


def _lost_entities(caption: CaptionInput, foil: str) -> Iterator[str]:
    """Return the entities of the caption that an edit changes, in order."""
    spans = [(match.start(), match.end()) for match in NAME.finditer(caption.text) if _is_name(match.group())]
    for entity in caption.facts.get("entities", ()):
        spans += [match.span() for match in whole_words([str(entity)]).finditer(caption.text)]
    if not spans:
        return
    edits = diff_edits(caption.text, foil)
    for start, end in sorted(set(spans)):
        if any(edit.start < end and start < edit.end for edit in edits):
            yield caption.text[start:end]


def _is_name(word: str) -> bool:
    """Return whether the word starts with a capital. In a caption all in capitals, names cannot be recognized."""
    return word[0].isupper() and not (len(word) > 1 and word.isupper())
