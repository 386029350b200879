"""Make the model paths of a run's parameters absolute, and restrict those from pages to one folder."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation.errors import GenerationError

# Parameters of methods and filters that name a model or a file; several models are separated by commas.
MODEL_PARAMETERS = frozenset({"model", "nli", "cola", "lm", "vectors", "tagger", "spans", "detector"})
PREFIX = re.compile(r"[a-z][a-z-]+:")


def with_paths(params: Mapping[str, Any], *, only_below: Path | None) -> dict[str, Any]:
    """Return the parameters with absolute paths, since a worker has another working folder.

    GenerationError: a path outside `only_below` (only the operator may name any path).
    """
    model_values = {
        name: value for name, value in params.items() if name in MODEL_PARAMETERS and isinstance(value, str)
    }
    return {**params, **{name: _with_absolute_paths(value, only_below) for name, value in model_values.items()}}


def _with_absolute_paths(value: str, only_below: Path | None) -> str:
    return ", ".join(_absolute_path(piece.strip(), only_below) for piece in value.split(","))


def _absolute_path(name: str, only_below: Path | None) -> str:
    prefix = match.group() if (match := PREFIX.match(name)) else ""
    path = Path(name.removeprefix(prefix))
    # "tuned/0123456789abcdef": a page names the installation's own models by a relative path.
    if only_below is not None and str(path) != "." and not path.is_absolute() and (only_below / path).is_dir():
        path = only_below / path
    is_local = path.is_absolute() or ".." in path.parts or ("/" in str(path) and path.exists())
    if not is_local:
        return name
    if only_below is not None and not path.resolve().is_relative_to(only_below.resolve()):
        raise GenerationError(
            f"{path}: a page can only use models in the installation's model folder; "
            "use a Hugging Face ID, or ask the operator to start the run"
        )
    return prefix + str(path.resolve())
