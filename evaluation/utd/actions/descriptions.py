"""Describe videos, or import descriptions of them."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.run_request import check_device, limited
from evaluation.utd.described_videos import DescribedVideos
from evaluation.utd.matching import matched_keys
from evaluation.utd.models import Descriptions, FrameText, TextSource
from evaluation.utd.prompt_sets import asked_by
from evaluation.utd.recipes import PAPER, RECIPES
from evaluation.utd.requests import DescriptionRequest
from evaluation.utd.required_texts import TEST, TRAIN, missing_texts, told
from evaluation.utd.samples import described_by_text
from evaluation.utd.subsets import subset_with_files, summarized
from evaluation.utd.utd_files import read_descriptions, sha256_of
from foilworks.core.corpus.models import Split, Video
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import quoted
from generation.instruction_models.endpoints import endpoint_and_model
from generation.model_paths import with_paths

JOB = "utd.describe"
MAX_MODEL_LENGTH, MAX_NAME_LENGTH, MAX_FRAMES = 500, 120, 64
ENDPOINT = "endpoint:"
ROWS = 1_000
FROM_FILE = "file:"
MAX_LISTED = 100


@transaction.atomic
def describe_videos(person: User | None, project: Project, request: DescriptionRequest) -> Descriptions:
    """Store the order and queue its job (`descriptions.job`). `person` None is the operator of the command line.

    AccessDenied without the researcher's role; EvaluationError for invalid parameters; GenerationError for an unknown
    endpoint, and for a path outside the models folder if a person sets it.
    """
    require_researcher(person, project)
    chosen_videos = subset_with_files(project, request.split, request.videos)
    if request.recipe not in RECIPES:
        raise EvaluationError(f"unknown recipe {quoted(request.recipe)}; choose one of: {', '.join(RECIPES)}")
    recipe = RECIPES[request.recipe]
    check_device(request.device)
    if not 0 <= request.frames <= MAX_FRAMES:
        raise EvaluationError(f"{request.frames} frames per video are not allowed; give 1 to {MAX_FRAMES}")
    describer, extractor = request.describer.strip(), request.extractor.strip()
    descriptions = Descriptions.objects.create(
        project=project,
        name=(" ".join(request.name.split()) or recipe.label)[:MAX_NAME_LENGTH],
        describer=checked_model(describer or recipe.describer, person, project),
        extractor=checked_model(extractor or recipe.extractor, person, project),
        params={
            **_params(request.frames or recipe.frames, request.recipe),
            "device": request.device,
            **asked_by(request.prompts or {}, request.placement),
            **limited(request.budget, ENDPOINT.rstrip(":"), describer, extractor),
            **chosen_videos,
        },
        created_by=person,
    )
    queue_description(descriptions)
    details = {
        "describer": descriptions.describer,
        "extractor": descriptions.extractor,
        **summarized(descriptions.params),
    }
    audit.record(audit.event(project, person, "evaluation.describe_videos", descriptions, **details))
    return descriptions


@transaction.atomic
def resume_description(
    person: User | None, descriptions: Descriptions, budget: Mapping[str, float] | None = None
) -> Descriptions:
    """Queue the job again, for new videos and for texts without an answer. `budget`: its new limits.

    EvaluationError if it is in progress, or if the texts come from a file.
    """
    require_researcher(person, descriptions.project)
    rows = Descriptions.objects.select_for_update(of=("self",), no_key=True).select_related("job")
    locked = rows.get(pk=descriptions.pk)
    if locked.job is not None and not locked.job.is_over:
        raise EvaluationError(_("A job is already describing these videos. Wait until it is done."))
    if not locked.extractor:
        raise EvaluationError(_("These descriptions were imported from a file. Import a new file to update them."))
    changed = limited(budget, ENDPOINT.rstrip(":"), locked.describer, locked.extractor)
    if changed:
        locked.params = {**locked.params, "budget": {**locked.params.get("budget", {}), **changed["budget"]}}
        locked.save(update_fields=["params"])
    queue_description(locked)
    audit.record(audit.event(locked.project, person, "evaluation.go_on_describing", locked, **changed))
    return locked


def queue_description(descriptions: Descriptions) -> None:
    title = _("Frame descriptions: %(name)s") % {"name": descriptions.name}
    descriptions.job = enqueue(JOB, descriptions.pk, queue="gpu", title=title, project_id=descriptions.project_id)
    descriptions.save(update_fields=["job"])


def checked_model(spec: str, person: User | None, project: Project) -> str:
    """Return a model as it is stored: with an absolute path, which a person may set only below the models folder."""
    if not spec or len(spec) > MAX_MODEL_LENGTH or not spec.isprintable():
        raise EvaluationError(_("Enter a model: its kind, a colon, and a hub ID or folder, such as vlm:ID."))
    if spec.startswith(ENDPOINT):
        endpoint_and_model(spec.removeprefix(ENDPOINT))
        return spec
    return str(with_paths({"model": spec}, owner=project if person is not None else None)["model"])


@transaction.atomic
def import_descriptions(
    person: User | None, project: Project, paths: Sequence[Path], *, name: str = "", extractor: str = ""
) -> Descriptions:
    """Store what the files say about videos of the project, by key. `extractor`: a model that extracts missing
    concepts; its job is queued.

    AccessDenied without the researcher's role; EvaluationError for invalid files, for files that name no video of the
    project, or for different numbers of frames.
    """
    require_researcher(person, project)
    described = read_descriptions(paths)
    keys = dict(Video.objects.filter(project=project).values_list("key", "pk"))
    matches = matched_keys(project, described)
    video_ids = {name: keys[matches[name]] for name in described if name in matches}
    if not video_ids:
        file_key, project_key = next(iter(described), ""), next(iter(keys), "")
        raise EvaluationError(
            _(
                "The files name no video of this project. They have %(theirs)s, and the project has %(ours)s. Use the "
                "video keys, source ids or file names of this project."
            )
            % {"theirs": quoted(file_key), "ours": quoted(project_key) if project_key else _("no videos")}
        )
    counts = {len(described[key]) for key in video_ids}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    label = ", ".join(path.name for path in paths)
    descriptions = Descriptions.objects.create(
        project=project,
        name=(" ".join(name.split()) or label)[:MAX_NAME_LENGTH],
        describer=f"{FROM_FILE}{label}"[:500],
        extractor=checked_model(extractor.strip(), person, project) if extractor.strip() else "",
        params=_params(counts.pop()),
        problems=_unmatched_keys(described, matches),
        described_at=timezone.now(),
        created_by=person,
    )
    _store(descriptions, described, video_ids, _source(paths, label))
    described.close()
    if descriptions.extractor:
        queue_description(descriptions)
    elif missing := told(_missing(descriptions)):
        descriptions.problems = {**descriptions.problems, "missing_texts": missing}
        descriptions.save(update_fields=["problems"])
    details = {"files": label, "n_videos": len(video_ids), "extractor": descriptions.extractor}
    audit.record(audit.event(project, person, "evaluation.import_descriptions", descriptions, **details))
    return descriptions


def _missing(descriptions: Descriptions) -> list[dict[str, Any]]:
    """Return the texts that the described videos lack, and what that costs."""
    videos = Video.objects.filter(frame_texts__descriptions=descriptions).distinct()
    rows = list(videos.values_list("pk", "split", "class_label"))
    split = {
        TRAIN: [pk for pk, split, _ in rows if split == Split.TRAIN],
        TEST: [pk for pk, split, _ in rows if split != Split.TRAIN],
    }
    return missing_texts(described_by_text(descriptions), split, classifies=any(label for _, _, label in rows))


def _store(
    descriptions: Descriptions, described: DescribedVideos, video_ids: Mapping[str, int], source: TextSource
) -> None:
    """Store the texts of the videos {name in the files: id}, some hundred rows at a time."""
    rows = (
        FrameText(
            descriptions=descriptions,
            video_id=video,
            place=frame_number,
            raw=raw,
            described_by=source,
            extracted_by=source,
        )
        for name, video in video_ids.items()
        for frame_number, raw in enumerate(described[name], start=1)
    )
    while some := list(islice(rows, ROWS)):
        FrameText.objects.bulk_create(some)


def _params(frames: int, recipe: str = PAPER) -> dict[str, Any]:
    settings = RECIPES[recipe]
    return {
        "recipe": recipe,
        "frames": frames,
        "temperature": settings.temperature,
        "max_words": settings.max_words,
        "max_tokens": settings.max_tokens,
        "answer_tokens": dict(settings.answer_tokens),
        "device": "auto",
    }


def _unmatched_keys(described: Any, keys: Any) -> dict[str, Any]:
    strangers = [key for key in described if key not in keys]
    return {"not_in_project": strangers[:MAX_LISTED], "n_not_in_project": len(strangers)} if strangers else {}


def _source(paths: Sequence[Path], label: str) -> TextSource:
    digest = sha256_of(paths)
    defaults = {"spec": f"{FROM_FILE}{label}"[:500], "settings": {"sha256": digest}}
    return TextSource.objects.get_or_create(sha256=digest, defaults=defaults)[0]
