"""Try a method on captions without a project or a database: its foils, and what it skips and why."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.hub.interfaces import ChatReply, ModelInfo
from foilworks.core.text.registry import load, lookup, parse_params, version_of
from generation import pipeline
from generation.errors import GenerationError
from generation.filters.registry import DRAW, FILTERS
from generation.methods.registry import METHODS
from generation.records import CaptionInput, FoilDraft

# Changes with every change of the JSON's names. 2: blanks have `spans` and `words`; 1 had `span` and `word`.
SCHEMA = 2


class WithSiblings:
    """Captions, iterable more than once, each with the other captions of its video."""

    def __init__(self, captions: Iterable[CaptionInput]) -> None:
        self._captions = captions
        self._texts_by_video: dict[str, dict[str, None]] = {}
        for caption in captions:
            if caption.video:
                self._texts_by_video.setdefault(caption.video, {})[caption.text] = None

    def __iter__(self) -> Iterator[CaptionInput]:
        for caption in self._captions:
            texts = self._texts_by_video.get(caption.video, {})
            siblings = tuple(text for text in texts if text != caption.text)
            yield replace(caption, siblings=siblings) if siblings else caption


class FileAnswers:
    """A store of answers: one small file per answer in `folder`, named by its key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        replies = {}
        for key in keys:
            try:
                row = json.loads(self._path(key).read_text(encoding="utf-8"))
                replies[key] = ChatReply(row["text"], cut=row["cut"], revision=row["revision"])
            except (OSError, ValueError, KeyError, TypeError):
                # There is none, or an incomplete one of an interrupted trial: query again.
                continue
        return replies

    def keep(self, replies: Mapping[str, ChatReply], info: ModelInfo) -> None:
        for key, reply in replies.items():
            if reply.failure:
                continue
            path = self._path(key)
            row = {"text": reply.text, "cut": reply.cut, "revision": reply.revision, "model": info.model_id}
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent) as work:
                written = Path(work) / path.name
                written.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
                written.replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def try_method(
    slug: str,
    captions: Iterable[CaptionInput],
    *,
    mode: str,
    seed: int,
    raw_params: Mapping[str, Any],
    is_drawn: bool = False,
) -> dict[str, Any]:
    """Return `{"schema": 2, "candidates": [...], "skipped": [...], "blanks": [...]}` (docs/reference/cli.md#foil).

    `captions` is iterated up to four times (it must be a list or a file). Captions of one video are each other's
    siblings, as in a run. `is_drawn`: draw one foil per caption, as a run does with the filter `draw`, with `draw` in
    the result: why captions are left out -> their number. ActionableError: an unknown method or parameter.
    """
    captions = WithSiblings(captions)
    entry = lookup(METHODS, slug, "method")
    params = parse_params(entry, raw_params)
    module = load(entry)
    services = trial_services(module, params)
    method = pipeline.Step(slug, module, params, extra_arguments=services, version=version_of(entry, module))
    method = pipeline.before_draw(method) if is_drawn else method
    state = pipeline.prepare(method, captions, mode=mode, seed=seed)
    result: dict[str, Any] = {"schema": SCHEMA, "candidates": [], "skipped": [], "blanks": []}
    outcomes: Iterable[pipeline.Outcome] = pipeline.run(method, captions, mode=mode, seed=seed, state=state)
    if is_drawn:
        outcomes = pipeline.draw(
            list(outcomes), pipeline.Step.of(FILTERS, DRAW, "filter", parse_params(FILTERS[DRAW], {})), seed=seed
        )
        result["draw"] = pipeline.left_out(outcomes)
    for outcome in outcomes:
        text = outcome.caption.text
        drafts = [judged.draft for judged in outcome.foils if not judged.rejected_by]
        result["candidates"] += [_draft_record(text, draft) for draft in drafts]
        left_out = [] if drafts else pipeline.left_out([outcome])
        reasons = (*outcome.skipped, *outcome.missing, *left_out)
        result["skipped"] += [{"caption": text, "why": why} for why in reasons]
        if outcome.blanks:
            result["blanks"].append({"caption": text, "count": outcome.blanks})
    if hasattr(module, "blanks_of"):
        result["blanks"] += [_blanks(module, caption, params, state) for caption in captions]
    return result


def _blanks(module: Any, caption: CaptionInput, params: Mapping[str, Any], state: Any) -> dict[str, Any]:
    """Return the caption's blanks, whether a model fills them or not."""
    spans = module.blanks_of(caption, params=params, state=state)
    words = [caption.text[start:end] for start, end in spans]
    return {"caption": caption.text, "spans": [list(span) for span in spans], "words": words}


def trial_services(module: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the services of a method or caption maker in a trial. Answers are stored in the installation's cache.

    GenerationError: it queries an instruction model, and no settings name its endpoint.
    """
    if not getattr(module, "USES_LLM", False):
        return {}
    # Imported on request: a method of rules runs without settings and tables.
    from django.conf import settings

    if not settings.configured:
        name = module.__name__.rpartition(".")[2]
        raise GenerationError(f"{name} queries an instruction model; run it with `foilworks foil --method {name}`")
    from generation.instruction_models.services import services

    return services(module, params, FileAnswers(settings.CACHE_ROOT / "answers"), project=None)


def _draft_record(caption: str, draft: FoilDraft) -> dict[str, Any]:
    record: dict[str, Any] = {
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
        record["edits"] = [[edit.start, edit.end, edit.target] for edit in draft.edits]
    return record
