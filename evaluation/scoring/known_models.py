"""Find the models that an installation has, and tell from its name whether a model can be there. Loads no model."""

import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.errors import EvaluationError
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT, SCORE_FILE
from foilworks.core.projects.model_folders import may_use, roots_of, with_names
from foilworks.core.text.errors import ActionableError
from generation.instruction_models.endpoints import configured
from generation.model_presence import FROM_HUB, check_folder, check_hub_id, hub_setting

# The file that every model folder of a kind has.
FOLDERS = {"tiny": "config.json", "external": "foilworks.json"}
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
LICENCE = re.compile(r"^license: *['\"]?([\w.-]+)", re.MULTILINE)
WEIGHTS = (".safetensors", ".bin", ".pt")
MAX_LISTED, MAX_CONFIG, MAX_README = 40, 1_000_000, 4_000


# Bytes of a parameter in the number format that most models are run in.
BF16_BYTES = 2
# A header of safetensors lists every tensor; that of a model with 1,000 layers has 1 MB.
MAX_HEADER = 10_000_000


class KnownModel(NamedTuple):
    """A model by its name in the form, with what is known about it; "" is unknown. `note`: where it is.

    `memory`: of its weights in bf16.
    """

    spec: str
    note: str = ""
    size: str = ""
    memory: str = ""
    licence: str = ""

    @property
    def about(self) -> str:
        return ", ".join(filter(None, (self.size, self.licence, self.note)))


def known_models(release: Release | None) -> list[KnownModel]:
    """Return the models scored in the project, the operator's endpoints, downloaded models, and the fake."""
    models = [*(_scored(release) if release else ()), *_endpoints(), *_folders(release), *_downloaded()]
    models.append(KnownModel("fake:", _("for trials, without weights")))
    merged: dict[str, KnownModel] = {}
    for model in models:
        first = merged.setdefault(model.spec, model)
        merged[model.spec] = KnownModel(*(old or new for old, new in zip(first, model, strict=True)))
    return list(merged.values())[:MAX_LISTED]


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
        check_folder(path, FOLDERS.get(slug, "config.json"))
    elif not path.is_dir():
        check_hub_id(name)


def _scored(release: Release) -> Iterator[KnownModel]:
    cards = cards_of(release.project)
    runs = Run.objects.filter(release__project=release.project).exclude(spec__startswith=f"{SCORE_FILE}:")
    for spec, key in dict(runs.order_by("-pk").values_list("spec", "model_key")[:MAX_LISTED]).items():
        if not _is_there(spec):
            continue
        yield KnownModel(with_names(spec), _("scored before"), cards[key].size if key in cards else "")


def _is_there(spec: str) -> bool:
    slug, _colon, argument = spec.partition(":")
    try:
        check_there(slug, argument)
    except ActionableError:
        return False
    return True


def _endpoints() -> Iterator[KnownModel]:
    for name, endpoint in configured().items():
        for model in endpoint.models:
            yield KnownModel(f"{ENDPOINT}:{name}/{model}", _("endpoint"))


def _folders(release: Release | None) -> Iterator[KnownModel]:
    project_id = release.project_id if release is not None else None
    for root, needed in itertools.product(roots_of(project_id), dict.fromkeys(FOLDERS.values())):
        for file in sorted([*root.glob(f"*/{needed}"), *root.glob(f"*/*/{needed}")])[:MAX_LISTED]:
            config = _read(file) if may_use(project_id, file) else {}
            slug = _kind(file.name, config)
            if config and slug:
                yield _described(with_names(f"{slug}:{file.parent}"), file.parent, config)


def _downloaded() -> Iterator[KnownModel]:
    cache = Path(hub_setting("HF_HUB_CACHE") or settings.MODEL_ROOT)
    for file in sorted(cache.glob("models--*/snapshots/*/config.json"))[:MAX_LISTED]:
        config = _read(file)
        slug = _kind(file.name, config)
        if slug:
            name = file.parents[2].name.removeprefix("models--").replace("--", "/", 1)
            yield _described(f"{slug}:{name}", file.parent, config)


def _kind(file: str, config: dict[str, Any]) -> str:
    if file == FOLDERS["external"]:
        return "external"
    return "tiny" if "architecture" in config else KINDS.get(str(config.get("model_type")), "")


def _described(spec: str, folder: Path, config: dict[str, Any]) -> KnownModel:
    """Return a model with the size, the memory and the licence that the files of its folder state."""
    card = config.get("card")
    parameters = card.get("parameters") if isinstance(card, dict) else None
    if not isinstance(parameters, int):
        parameters = _parameters(folder)
    if parameters:
        size = ngettext("%(n)s parameter", "%(n)s parameters", parameters) % {"n": f"{parameters:,}"}
        memory = filesizeformat(parameters * BF16_BYTES)
    else:
        n_bytes = sum(file.stat().st_size for file in folder.iterdir() if file.suffix in WEIGHTS and file.is_file())
        size, memory = filesizeformat(n_bytes) if n_bytes else "", ""
    return KnownModel(spec, "", size, memory, _licence(folder))


def _parameters(folder: Path) -> int:
    """Return how many numbers the safetensors of a folder contain, by their headers; 0 if a header is unreadable."""
    headers = [_header(file) for file in sorted(folder.glob("*.safetensors"))]
    if not all(headers):
        return 0
    return sum(math.prod(tensor["shape"]) for header in headers for tensor in header.values())


def _header(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as weights:
            length = int.from_bytes(weights.read(8), "little")
            header = json.loads(weights.read(length)) if length < MAX_HEADER else {}
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(header, dict):
        return {}
    return {name: row for name, row in header.items() if isinstance(row, dict) and _is_shape(row.get("shape"))}


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and all(isinstance(n, int) and n >= 0 for n in shape)


def _licence(folder: Path) -> str:
    """Return the licence in the first lines of the README, as the hub's cards have it."""
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as file:
            match = LICENCE.search(file.read(MAX_README))
    except OSError:
        return ""
    return match[1] if match else ""


def _read(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size < MAX_CONFIG else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}
