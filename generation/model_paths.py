"""Make the model paths of a run's parameters absolute, and restrict those from pages to folders of the project."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.projects.model_folders import locate, may_use, with_names
from foilworks.core.projects.models import Project
from generation.errors import GenerationError

PREFIX = re.compile(r"[a-z][a-z0-9-]*:")


def with_paths(params: Mapping[str, Any], *, owner: Project | None) -> dict[str, Any]:
    """Return the parameters with absolute paths, since a worker has another working folder.

    Any text may name a file, several separated by commas. `owner`: the project whose researcher sets them; None: the
    operator, who may name any path. GenerationError: a path that is neither the project's nor shared.
    """
    return {
        name: _with_absolute_paths(value, owner) if isinstance(value, str) else value for name, value in params.items()
    }


def _with_absolute_paths(value: str, owner: Project | None) -> str:
    pieces = [piece.strip() for piece in value.split(",")]
    paths = [absolute_spec(piece, owner) for piece in pieces]
    return value if paths == pieces else ", ".join(paths)


def absolute_spec(spec: str, owner: Project | None) -> str:
    """Return `KIND:NAME?OPTION=NAME&…` with absolute paths; GenerationError as `with_paths`."""
    prefix = match.group() if (match := PREFIX.match(spec)) else ""
    return prefix + absolute_argument(spec.removeprefix(prefix), owner)


def absolute_argument(argument: str, owner: Project | None, *, is_path: bool = False) -> str:
    """Return `NAME?OPTION=NAME&…` with absolute paths. `is_path`: NAME is a path even if no such file exists."""
    name, mark, options = argument.partition("?")
    pairs = [option.partition("=") for option in options.split("&")]
    values = "&".join(f"{key}{equals}{absolute_path(value, owner)}" for key, equals, value in pairs)
    return f"{absolute_path(name, owner, is_path=is_path)}{mark}{values}"


def absolute_path(name: str, owner: Project | None, *, is_path: bool = False) -> str:
    """Return the absolute path if the name is one; GenerationError as `with_paths`."""
    path = locate(owner.pk, name) if owner is not None else Path(name)

    # A path below the working folder is a file of this server, too. A text such as "/a {mask}" is no path.
    is_absolute = path.is_absolute() and (" " not in name or path.exists())
    is_local = is_absolute or ".." in path.parts or ("/" in name and path.exists())
    if not name or not (is_path or is_local):
        return name
    if owner is not None and not may_use(owner.pk, path):
        raise GenerationError(
            f"{with_names(name)}: this is neither a model of this project nor a shared one; "
            "use a Hugging Face ID, or ask the operator to start the run"
        )
    return str(path.resolve())
