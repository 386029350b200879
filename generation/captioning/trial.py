"""Try a caption maker on sources without a project. Its captions are lines for `import jsonl`."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from foilworks.core.text.registry import load, lookup, parse_params
from generation.captioning.registry import CAPTIONERS
from generation.records import CaptionInput, MadeCaption, Skip

BATCH = 200


def make_captions(
    slug: str,
    sources: Iterable[CaptionInput],
    *,
    mode: str,
    seed: int,
    raw_params: Mapping[str, Any],
    serve: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return `{"captions": [{"source", "caption", "video", "facts"}], "skipped": [{"source", "why"}]}`.

    `serve(module, params)`: a maker's further inputs, such as an instruction model. ActionableError:
    an unknown maker or parameter.
    """
    entry = lookup(CAPTIONERS, slug, "caption maker")
    params = parse_params(entry, raw_params)
    module = load(entry)
    given = serve(module, params)
    result: dict[str, Any] = {"captions": [], "skipped": []}
    stream = iter(sources)
    while batch := list(islice(stream, BATCH)):
        by_id = {source.id: source for source in batch}
        for made in module.make(batch, params=params, mode=mode, seed=seed, **given):
            _note(made, by_id, result)
    return result


def _note(made: MadeCaption | Skip, sources: Mapping[str, CaptionInput], result: dict[str, Any]) -> None:
    if isinstance(made, Skip):
        source = sources[made.caption_id]
        result["skipped"].append({"source": source.text or source.id, "why": made.why})
        return
    source = sources[made.source_id]
    facts = {**made.facts, "maker": made.maker, "mode": made.mode}
    result["captions"].append({"source": source.text, "caption": made.text, "video": source.video, "facts": facts})
