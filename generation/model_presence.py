"""Tell from a model's name whether the model can be there. Loads no model."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from foilworks.core.projects.model_folders import all_roots, may_use
from foilworks.core.text.quoting import shortened
from generation.errors import GenerationError

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")
# Kinds whose argument is a hub id or a folder in the hub's layout.
FROM_HUB = frozenset({"clip", "xclip", "video", "blip2", "vlm", "lm", "seq2seq", "chat", "sentence"})


def check_named(spec: str) -> None:
    """Raise GenerationError for a hub id, with or without a kind, whose absence is known; other names pass."""
    kind, colon, argument = spec.strip().partition(":")
    name = (argument if colon else kind).partition("?")[0]
    if (colon and kind not in FROM_HUB) or not name:
        return
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        # Of other folders, the page must not say whether they exist: the action refuses them.
        if may_use(None, path):
            check_folder(path, "config.json")
    elif not path.is_dir() and not any((folder / name).is_dir() for folder in all_roots()):
        check_hub_id(name)


def check_folder(path: Path, needed: str) -> None:
    """Raise GenerationError if the folder, or the file that every model folder of its kind has, is absent."""
    if not path.is_dir():
        raise GenerationError(_("There is no model folder %(path)s. Choose a model from the list.") % {"path": path})
    if not (path / needed).is_file():
        problem = _("The folder %(path)s has no %(file)s. Choose the folder that contains it.")
        raise GenerationError(problem % {"path": path, "file": needed})


def check_hub_id(name: str) -> None:
    """Raise GenerationError if this is not a hub id, or is one that an offline machine has not downloaded.

    Presence is checked only offline and with SQLite: then every worker has this machine's files.
    """
    short_name = shortened(name)
    if not HUB_ID.fullmatch(name):
        raise GenerationError(
            _("“%(name)s” is not a Hugging Face ID. Write it as owner/name or owner/name@revision.")
            % {"name": short_name}
        )
    if not hub_setting("HF_HUB_OFFLINE") or connection.vendor != "sqlite":
        return
    folder = "models--" + name.partition("@")[0].replace("/", "--")
    if not (Path(hub_setting("HF_HUB_CACHE")) / folder).is_dir():
        problem = _(
            "%(name)s is not downloaded, and this installation is offline. Choose a model from the list, or ask the "
            "operator to download it."
        )
        raise GenerationError(problem % {"name": short_name})


def hub_setting(name: str) -> Any:
    """Return a setting of the hub's client, which reads its own environment; None without the client."""
    if find_spec("huggingface_hub") is None:
        return None
    # Imported on request: most pages do not need it.
    from huggingface_hub import constants

    return getattr(constants, name)
