"""A method tried on captions, without a project or a database: what it makes, what it skips and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from generation import pipeline
from generation.asking.answer_files import FileAnswers
from generation.asking.services import services
from generation.methods.registry import METHODS
from generation.records import CaptionInput, FoilDraft
from text.registry import load, lookup, parse_params


def try_method(
    slug: str, captions: Iterable[CaptionInput], *, mode: str, seed: int, raw_params: Mapping[str, Any]
) -> dict[str, Any]:
    """`{"candidates": [...], "skipped": [...], "blanks": [...]}` (docs/reference/cli.md#foil).

    `captions` is gone through twice (it must be a list or a file). Raises ActionableError for an unknown method or
    parameter.
    """
    entry = lookup(METHODS, slug, "method")
    params = parse_params(entry, raw_params)
    module = load(entry)
    method = pipeline.Step(slug, module, params, given=trial_services(module, params))
    state = pipeline.prepare(method, captions, mode=mode, seed=seed)
    result: dict[str, Any] = {"candidates": [], "skipped": [], "blanks": []}
    for outcome in pipeline.run(method, captions, mode=mode, seed=seed, state=state):
        text = outcome.caption.text
        result["candidates"] += [_shown(text, judged.draft) for judged in outcome.foils]
        result["skipped"] += [{"caption": text, "why": why} for why in (*outcome.skipped, *outcome.missing)]
        if outcome.blanks:
            result["blanks"].append({"caption": text, "count": outcome.blanks})
    return result


def trial_services(module: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """What a method or caption maker is handed in a trial; answers of models are kept in the installation's cache."""
    return services(module, params, FileAnswers(settings.CACHE_ROOT / "answers"), project=None)


def _shown(caption: str, draft: FoilDraft) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "caption": caption,
        "foil": draft.foil,
        "span": list(draft.span),
        "source": draft.source,
        "target": draft.target,
        "method": draft.method,
        "mode": draft.mode,
        "facts": dict(draft.facts),
    }
    if len(draft.edits) > 1:
        shown["edits"] = [[edit.start, edit.end, edit.target] for edit in draft.edits]
    return shown
