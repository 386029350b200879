"""Descriptions of frames that were made elsewhere, from files in the form of UTD-descriptions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.models import Video
from evaluation.errors import EvaluationError
from evaluation.utd.actions.describe_videos import MAX_NAME_LENGTH, checked_model, queue_description
from evaluation.utd.models import Descriptions, FrameText, TextSource
from evaluation.utd.recipes import PAPER, RECIPES
from evaluation.utd.utd_files import read_descriptions, sha256_of
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User

ROWS = 1_000
FROM_FILE = "file:"
MAX_LISTED = 100


@transaction.atomic
def import_descriptions(
    person: User | None, project: Project, paths: Sequence[Path], *, name: str = "", extractor: str = ""
) -> Descriptions:
    """Store what the files say of videos of the project, by key. `extractor`: a model that is asked for the concepts
    that they lack; its job is queued.

    AccessDenied without the researcher's role; EvaluationError for files that are no such, that name no video of the
    project, or other numbers of frames.
    """
    require_researcher(person, project)
    found = read_descriptions(paths)
    keys = dict(Video.objects.filter(project=project).values_list("key", "pk"))
    known = {key: frames for key, frames in found.items() if key in keys}
    if not known:
        raise EvaluationError(_("The files name no video of this project; videos go by their key."))
    counts = {len(frames) for frames in known.values()}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    label = ", ".join(path.name for path in paths)
    made = Descriptions.objects.create(
        project=project,
        name=(" ".join(name.split()) or label)[:MAX_NAME_LENGTH],
        describer=f"{FROM_FILE}{label}"[:500],
        extractor=checked_model(extractor.strip(), person) if extractor.strip() else "",
        params=_params(counts.pop()),
        problems=_strangers(found, keys),
        described_at=timezone.now(),
        created_by=person,
    )
    source = _source(paths, label)
    rows = [
        FrameText(descriptions=made, video_id=keys[key], place=place, raw=raw, described_by=source, extracted_by=source)
        for key, frames in known.items()
        for place, raw in enumerate(frames, start=1)
    ]
    FrameText.objects.bulk_create(rows, batch_size=ROWS)
    if made.extractor:
        queue_description(made)
    details = {"files": label, "n_videos": len(known), "extractor": made.extractor}
    audit.record(audit.event(project, person, "evaluation.import_descriptions", made, **details))
    return made


def _params(frames: int) -> dict[str, Any]:
    chosen = RECIPES[PAPER]
    return {
        "recipe": PAPER,
        "frames": frames,
        "temperature": chosen.temperature,
        "max_words": chosen.max_words,
        "max_tokens": chosen.max_tokens,
        "device": "auto",
    }


def _strangers(found: Any, keys: Any) -> dict[str, Any]:
    strangers = [key for key in found if key not in keys]
    return {"not_in_project": strangers[:MAX_LISTED], "n_not_in_project": len(strangers)} if strangers else {}


def _source(paths: Sequence[Path], label: str) -> TextSource:
    digest = sha256_of(paths)
    defaults = {"spec": f"{FROM_FILE}{label}"[:500], "settings": {"sha256": digest}}
    return TextSource.objects.get_or_create(sha256=digest, defaults=defaults)[0]
