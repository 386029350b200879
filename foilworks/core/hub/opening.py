"""Open the model that a spec or a name means. Only jobs, commands, methods and filters call this: it imports the
adapter's libraries when it opens one."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from foilworks.core.hub.catalogue.number_formats import AUTO, FLOAT32, resolve_dtype, split_dtype
from foilworks.core.hub.catalogue.registry import ADAPTERS, ENDPOINT, EVERY, GENERATOR, GENERATORS, SCORE_FILE
from foilworks.core.hub.catalogue.specs import parse_spec
from foilworks.core.hub.contract import loader, opened
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ModelInfo, Trust
from foilworks.core.hub.loading.trust import trusting
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load

# Helpers that a worker keeps loaded: filters and methods open theirs with every batch.
MAX_HELPERS = 6


def open_adapter(spec: str, *, device: str = "auto", dtype: str = AUTO, trust: Trust | None = None) -> Any:
    """Load the Embedder or Scorer that `spec` names, on `device` (auto, cpu, cuda, cuda:N).

    `spec` or `dtype` names the number format; see foilworks.core.hub.catalogue.number_formats for `auto`. The revision
    names it unless it is float32.
    `trust`: what is allowed for this model beyond safetensors and our own code. Only jobs call this: it imports the
    adapter's libraries. HubError: unknown spec, a model that does not load or does not implement its interface, a
    device that is not available, or `file:`, which has no model.
    """
    slug, argument = parse_spec(spec)
    if slug == SCORE_FILE:
        raise HubError(f"{quoted(spec)} is a score file, not a model to run; import it instead of loading it")
    if slug == ENDPOINT:
        raise HubError(f"{quoted(spec)} is a model behind an endpoint; name a local model here")
    argument, dtype = split_dtype(argument, dtype)
    dtype = resolve_dtype(slug, dtype, device)
    with trusting(trust or Trust()):
        adapter = loader(slug, load(ADAPTERS[slug]))(argument, device=device, dtype=dtype)
        return mark_dtype(opened(slug, adapter, ADAPTERS[slug].origin), dtype)


def open_helper(name: str, role: str, *, device: str = "auto", dtype: str = AUTO) -> Any:
    """Load the model that `name` (`SLUG:ARGUMENT`, a hub id or a folder) names; `role` is the slug of a bare name.

    Cached for the process, and loaded again if the folder's files change. HubError: it does not load.
    """
    slug, colon, argument = name.partition(":")
    if not colon or slug not in EVERY or slug == ENDPOINT:
        slug, argument = role, name
    argument, dtype = split_dtype(argument, dtype)
    return _cached_helper(slug, argument, device, resolve_dtype(slug, dtype, device), _stamp(argument))


def open_generator(name: str, *, device: str = "auto", dtype: str = AUTO) -> Any:
    """Load the Generator that `name` (`vlm:HUB_ID_OR_FOLDER`, `fake-generator:`, or a bare id or folder) names.

    Cached for the process. HubError: it does not load, or writes no texts.
    """
    slug = name.partition(":")[0]
    if slug in EVERY and slug != GENERATOR and slug not in GENERATORS:
        choices = ", ".join(f"{generator}:…" for generator in (GENERATOR, *GENERATORS))
        raise HubError(f"{quoted(name)} names no model that writes texts about videos; write one of: {choices}")
    return open_helper(name, GENERATOR, device=device, dtype=dtype)


@lru_cache(maxsize=MAX_HELPERS)
def _cached_helper(slug: str, argument: str, device: str, dtype: str, stamp: tuple[tuple[str, int], ...]) -> Any:
    return mark_dtype(load(EVERY[slug])(argument, device=device, dtype=dtype), dtype)


def _stamp(argument: str) -> tuple[tuple[str, int], ...]:
    folder = Path(argument.partition("?")[0])
    if not argument or not folder.is_dir():
        return ()
    return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir()))


def mark_dtype(adapter: Any, dtype: str) -> Any:
    """Add the format to the adapter's revision, so that no key holds scores of two formats. Keys of float32 do not name
    it."""
    info = getattr(adapter, "info", None)
    if dtype == FLOAT32 or not isinstance(info, ModelInfo):
        return adapter
    try:
        adapter.info = replace(info, revision=f"{info.revision} {dtype}")
    except AttributeError as error:
        raise HubError(f"{info.model_id}: its info cannot be set ({error}); make it a plain attribute") from error
    return adapter
