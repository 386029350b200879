"""Find the models that an installation has, and tell from its name whether a model can be there. Loads no model."""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corpus.models import Release
from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import ENDPOINT, SCORE_FILE
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import Run
from generation.asking.endpoints import configured
from text.quoting import shortened
from text.registry import Entry, load

# The file that every model folder of a kind has.
FOLDERS = {"tiny": "config.json", "external": "foilworks.json"}
FROM_HUB = frozenset({"clip", "xclip", "video", "blip2", "vlm", "lm", "seq2seq"})
# `model_type` in config.json: the kind that scores it.
KINDS = {
    "blip-2": "blip2",
    "bart": "seq2seq",
    "clip": "clip",
    "gpt2": "lm",
    "internvl": "vlm",
    "llava": "vlm",
    "llava_next_video": "vlm",
    "metaclip_2": "clip",
    "opt": "lm",
    "qwen2_5_vl": "vlm",
    "qwen2_vl": "vlm",
    "siglip": "clip",
    "siglip2": "clip",
    "t5": "seq2seq",
    "video_llava": "vlm",
    "xclip": "xclip",
}
# Loaded by path: no page needs the hub's client, and it may not be installed.
HUB_CLIENT = Entry("the hub's client", "huggingface_hub.constants")
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")
LICENCE = re.compile(r"^license: *['\"]?([\w.-]+)", re.MULTILINE)
WEIGHTS = (".safetensors", ".bin", ".pt")
MAX_LISTED, MAX_CONFIG, MAX_README = 40, 1_000_000, 4_000


class KnownModel(NamedTuple):
    """A model by its name in the form; `about`: size, licence, or where it is, as far as known."""

    spec: str
    about: str


def known_models(release: Release | None) -> list[KnownModel]:
    """Return the models scored in the project, the operator's endpoints, downloaded models, and the fake."""
    found = [*(_scored(release) if release else ()), *_endpoints(), *_folders(), *_downloaded()]
    found.append(KnownModel("fake:", _("for trials, without weights")))
    about: dict[str, list[str]] = {}
    for model in found:
        about.setdefault(model.spec, []).append(model.about)
    return [KnownModel(spec, ", ".join(filter(None, parts))) for spec, parts in about.items()][:MAX_LISTED]


def check_there(slug: str, argument: str) -> None:
    """Raise EvaluationError for a model whose absence is known without loading it; `argument` as a run stores it.

    A Hugging Face ID is checked only offline and with SQLite: then every worker has this machine's files.
    """
    name = argument.partition("?")[0]
    if slug not in FOLDERS and slug not in FROM_HUB:
        return
    if not name:
        raise EvaluationError(
            _("“%(slug)s:” names no model. Add its Hugging Face ID or folder after the colon.") % {"slug": slug}
        )
    path = Path(name)
    if slug in FOLDERS or path.is_absolute() or name.startswith("."):
        _check_folder(path, FOLDERS.get(slug, "config.json"))
    elif not path.is_dir():
        _check_hub_id(name)


def _check_folder(path: Path, needed: str) -> None:
    if not path.is_dir():
        raise EvaluationError(_("There is no model folder %(path)s. Choose a model from the list.") % {"path": path})
    if not (path / needed).is_file():
        problem = _("The folder %(path)s has no %(file)s. Choose the folder that contains it.")
        raise EvaluationError(problem % {"path": path, "file": needed})


def _check_hub_id(name: str) -> None:
    shown = shortened(name)
    if not HUB_ID.fullmatch(name):
        raise EvaluationError(
            _("“%(name)s” is not a Hugging Face ID. Write it as owner/name or owner/name@revision.") % {"name": shown}
        )
    if not _hub_setting("HF_HUB_OFFLINE") or connection.vendor != "sqlite":
        return
    folder = "models--" + name.partition("@")[0].replace("/", "--")
    if not (Path(_hub_setting("HF_HUB_CACHE")) / folder).is_dir():
        problem = _(
            "%(name)s is not downloaded, and this installation is offline. Choose a model from the list, or ask the "
            "operator to download it."
        )
        raise EvaluationError(problem % {"name": shown})


def _hub_setting(name: str) -> Any:
    """Return a setting of the hub's client, which reads its own environment; None without the client."""
    return getattr(load(HUB_CLIENT), name) if find_spec("huggingface_hub") else None


def _scored(release: Release) -> Iterator[KnownModel]:
    cards = cards_of(release.project)
    runs = Run.objects.filter(release__project=release.project).exclude(spec__startswith=f"{SCORE_FILE}:")
    for spec, key in dict(runs.order_by("-pk").values_list("spec", "model_key")[:MAX_LISTED]).items():
        if not _is_there(spec):
            continue
        size = cards[key].size if key in cards else ""
        yield KnownModel(spec, ", ".join(filter(None, (size, _("scored before")))))


def _is_there(spec: str) -> bool:
    slug, _colon, argument = spec.partition(":")
    try:
        check_there(slug, argument)
    except EvaluationError:
        return False
    return True


def _endpoints() -> Iterator[KnownModel]:
    for name, one in configured().items():
        for model in one.models:
            yield KnownModel(f"{ENDPOINT}:{name}/{model}", _("endpoint"))


def _folders() -> Iterator[KnownModel]:
    root = Path(settings.MODEL_ROOT)
    for needed in dict.fromkeys(FOLDERS.values()):
        for file in sorted([*root.glob(f"*/{needed}"), *root.glob(f"*/*/{needed}")])[:MAX_LISTED]:
            config = _read(file)
            slug = _kind(file.name, config)
            if slug:
                yield KnownModel(f"{slug}:{file.parent}", _about(file.parent, config))


def _downloaded() -> Iterator[KnownModel]:
    cache = Path(_hub_setting("HF_HUB_CACHE") or settings.MODEL_ROOT)
    for file in sorted(cache.glob("models--*/snapshots/*/config.json"))[:MAX_LISTED]:
        config = _read(file)
        slug = _kind(file.name, config)
        if slug:
            name = file.parents[2].name.removeprefix("models--").replace("--", "/", 1)
            yield KnownModel(f"{slug}:{name}", _about(file.parent, config))


def _kind(file: str, config: dict[str, Any]) -> str:
    if file == FOLDERS["external"]:
        return "external"
    return "tiny" if "architecture" in config else KINDS.get(str(config.get("model_type")), "")


def _about(folder: Path, config: dict[str, Any]) -> str:
    """Return the size and the licence of a model folder, as far as its files state them."""
    card = config.get("card")
    parameters = card.get("parameters") if isinstance(card, dict) else None
    if isinstance(parameters, int):
        size = ngettext("%(n)s parameter", "%(n)s parameters", parameters) % {"n": f"{parameters:,}"}
    else:
        n_bytes = sum(file.stat().st_size for file in folder.iterdir() if file.suffix in WEIGHTS and file.is_file())
        size = filesizeformat(n_bytes) if n_bytes else ""
    return ", ".join(filter(None, (size, _licence(folder))))


def _licence(folder: Path) -> str:
    """Return the licence in the first lines of the README, as the hub's cards have it."""
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as file:
            found = LICENCE.search(file.read(MAX_README))
    except OSError:
        return ""
    return found[1] if found else ""


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size < MAX_CONFIG else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
