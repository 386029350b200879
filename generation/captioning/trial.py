"""A caption maker tried on sources, without a project: its captions as lines that `import jsonl` takes."""

from collections.abc import Iterable, Mapping
from typing import Any

from generation.captioning.records import MadeCaption
from generation.captioning.table import CAPTIONERS
from generation.records import CaptionInput
from text.registry import load, lookup, parse_params


def make_captions(
    slug: str, sources: Iterable[CaptionInput], *, mode: str, seed: int, raw_params: Mapping[str, Any]
) -> dict[str, Any]:
    """`{"captions": [{"source", "caption", "video", "facts"}], "skipped": [{"source", "why"}]}`.

    Raises ActionableError for an unknown maker or parameter.
    """
    entry = lookup(CAPTIONERS, slug, "caption maker")
    params = parse_params(entry, raw_params)
    result: dict[str, Any] = {"captions": [], "skipped": []}
    for source in sources:
        for made in load(entry).make([source], params=params, mode=mode, seed=seed):
            if isinstance(made, MadeCaption):
                facts = {**made.facts, "maker": made.maker, "mode": made.mode}
                result["captions"].append(
                    {"source": source.text, "caption": made.text, "video": source.video, "facts": facts}
                )
            else:
                result["skipped"].append({"source": source.text or source.id, "why": made.why})
    return result
