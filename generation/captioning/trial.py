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
    services = serve(module, params)
    result: dict[str, Any] = {"captions": [], "skipped": []}
    stream = iter(sources)
    while batch := list(islice(stream, BATCH)):
        by_id = {source.id: source for source in batch}
        for output in module.make(batch, params=params, mode=mode, seed=seed, **services):
            _note(output, by_id, result)
    return result


def _note(output: MadeCaption | Skip, sources: Mapping[str, CaptionInput], result: dict[str, Any]) -> None:
    if isinstance(output, Skip):
        source = sources[output.caption_id]
        result["skipped"].append({"source": source.text or source.id, "why": output.why})
        return
    source = sources[output.source_id]
    facts = {**output.facts, "maker": output.maker, "mode": output.mode}
    result["captions"].append({"source": source.text, "caption": output.text, "video": source.video, "facts": facts})
