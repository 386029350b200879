"""The adapters, and how a model is named on the command line: `SLUG:ARGUMENT`. Imports no torch.

`file:SCORES` is understood here too, so that a wrong SPEC lists everything that would be right, but it has no row: a
score file needs no model and evaluation reads it itself.
"""

from typing import Any

from hub.errors import HubError
from text.registry import Entry, load

ADAPTERS: dict[str, Entry] = {
    "fake": Entry(
        label="Fake (deterministic)",
        path="hub.fake:load_adapter",
        summary="scores by hashing, for tests and trials: `fake:`, `fake:SEED`, or `fake:text` for a text-only model",
    ),
    "tiny": Entry(
        label="Tiny video-text encoder",
        path="hub.tiny_video:load_adapter",
        summary="a frame-averaging or temporal dual encoder trained by the demo: `tiny:FOLDER`",
    ),
}

SCORE_FILE = "file"


def parse_spec(spec: str) -> tuple[str, str]:
    """("tiny", "/a/b") of "tiny:/a/b". HubError lists what could be written instead."""
    slug, colon, argument = spec.partition(":")
    if not colon or slug not in {*ADAPTERS, SCORE_FILE}:
        known = ", ".join(f"{name}:…" for name in (*sorted(ADAPTERS), SCORE_FILE))
        raise HubError(f"'{spec}' names no model; write SLUG:ARGUMENT with one of: {known}")
    if slug == SCORE_FILE and not argument:
        raise HubError("'file:' names no score file; write file:PATH")
    return slug, argument


def open_adapter(spec: str, *, device: str = "auto", dtype: str = "float32") -> Any:
    """The loaded Embedder or Scorer that `spec` names, on `device` (auto, cpu, cuda, cuda:N).

    Only jobs call this: it imports the adapter's libraries. HubError: unknown spec, a model that does not load, a
    device that is not there, or `file:`, which is scores and no model.
    """
    slug, argument = parse_spec(spec)
    if slug == SCORE_FILE:
        raise HubError(f"'{spec}' is a score file, not a model to run; import it instead of loading it")
    return load(ADAPTERS[slug])(argument, device=device, dtype=dtype)
