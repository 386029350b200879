"""Event order: "opens the door and then sits down" -> "sits down and then opens the door", "before" -> "after".

The events are those of `generation.grammar.events`. One foil per caption: with "then" the acts or clauses change
places, with "before" and "after" the connective changes.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.tools import tagger
from generation.grammar.consistency import why_unsound
from generation.grammar.events import exchange
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "2"


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, without random draws. Both modes do the same."""
    del seed
    tags = tagger(params["tagger"])
    for caption in captions:
        made = exchange(caption.text, tags.tag(caption.text))
        why = made if isinstance(made, str) else why_unsound(caption.text, made.edits)
        if isinstance(made, str) or why:
            yield Skip(caption.id, why)
            continue
        facts = {"form": made.form, "tagger": tags.name}
        yield draft_from_edits(caption, made.edits, method="event_order", mode=mode, facts=facts)
