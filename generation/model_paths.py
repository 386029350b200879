"""Where the models of a run's parameters lie: made absolute for workers, and kept to one folder where a page asks."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation.errors import GenerationError

# Parameters of methods and filters that name a model or a file; several models stand between commas.
MODEL_PARAMETERS = frozenset({"model", "nli", "cola", "lm", "vectors", "tagger", "spans", "detector"})
PREFIX = re.compile(r"[a-z][a-z-]+:")


def with_paths(params: Mapping[str, Any], *, only_below: Path | None) -> dict[str, Any]:
    """The parameters with every local folder or file as an absolute path: a worker has a working folder of its own.

    GenerationError: a path outside `only_below` (a page must not read what only the operator may name).
    """
    named = {name: value for name, value in params.items() if name in MODEL_PARAMETERS and isinstance(value, str)}
    return {**params, **{name: _located(value, only_below) for name, value in named.items()}}


def _located(value: str, only_below: Path | None) -> str:
    return ", ".join(_one(piece.strip(), only_below) for piece in value.split(","))


def _one(name: str, only_below: Path | None) -> str:
    prefix = match.group() if (match := PREFIX.match(name)) else ""
    path = Path(name.removeprefix(prefix))
    # "tuned/0123456789abcdef": a page names the installation's own models without the way to them.
    if only_below is not None and str(path) != "." and not path.is_absolute() and (only_below / path).is_dir():
        path = only_below / path
    is_local = path.is_absolute() or ".." in path.parts or ("/" in str(path) and path.exists())
    if not is_local:
        return name
    if only_below is not None and not path.resolve().is_relative_to(only_below.resolve()):
        raise GenerationError(
            f"{path}: from a page only models in the installation's folder of models can be named; "
            "use a hub id, or let the operator start the run"
        )
    return prefix + str(path.resolve())
