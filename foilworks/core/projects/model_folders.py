"""Folders of models: each project has its own, and all share the operator's. Pages name a model below them.

`models/projects/<number>` is a project's, `models/shared` everybody's, like whatever else the operator puts into
`models`.
"""

import re
from pathlib import Path
from typing import Any

from django.conf import settings

OWN, SHARED = "projects", "shared"
# Where versions before 0.4 stored models of all projects. A migration moved them; what it left belongs to nobody.
BEFORE = frozenset({"taught", "tuned", "teaching", "tuning"})


def models_of(project_id: int) -> Path:
    """Return the folder of the project's own models."""
    return Path(settings.MODEL_ROOT) / OWN / str(project_id)


def roots_of(project_id: int | None) -> list[Path]:
    """Return the folders in which the project's models have their names, its own first."""
    root = Path(settings.MODEL_ROOT)
    return [*([models_of(project_id)] if project_id is not None else ()), root / SHARED, root]


def all_roots() -> list[Path]:
    """Return the folders in which any project's models have their names."""
    return [*roots_of(None), *(Path(settings.MODEL_ROOT) / OWN).glob("*")]


def locate(project_id: int | None, name: str) -> Path:
    """Return the absolute path of a model of the project or of a shared one; any other name unchanged."""
    path = Path(name)
    if not name or path.is_absolute():
        return path
    paths = (folder / name for folder in roots_of(project_id))
    return next((path for path in paths if path.exists() and may_use(project_id, path)), path)


def may_use(project_id: int | None, path: Path) -> bool:
    """Return whether the path, with its links resolved, is the project's own or shared."""
    root, real = Path(settings.MODEL_ROOT).resolve(), path.resolve()
    if real == root or not real.is_relative_to(root):
        return False
    parts = real.relative_to(root).parts
    return parts[:2] == (OWN, str(project_id)) or parts[0] not in {OWN, *BEFORE}


def with_names(value: Any) -> Any:
    """Return a text, or the texts of lists and objects, with names instead of the paths of models on this server."""
    if isinstance(value, str):
        root = str(settings.MODEL_ROOT)
        return re.sub(rf"{re.escape(root)}/(?:{OWN}/\d+/|{SHARED}/)?", "", value) if root in value else value
    if isinstance(value, dict):
        return {key: with_names(row) for key, row in value.items()}
    return [with_names(row) for row in value] if isinstance(value, list) else value
