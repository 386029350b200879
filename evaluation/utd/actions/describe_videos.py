"""The frames of a project's videos, to be described and taken apart by two models (UTD)."""

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import check_device
from evaluation.utd.models import Descriptions
from evaluation.utd.recipes import PAPER, RECIPES
from generation.asking.endpoints import find_endpoint
from generation.model_paths import with_paths
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User

JOB = "evaluation.utd.jobs.describe_videos"
MAX_MODEL_LENGTH, MAX_NAME_LENGTH, MAX_FRAMES = 500, 120, 64
ENDPOINT = "endpoint:"


@transaction.atomic
def describe_videos(
    person: User | None,
    project: Project,
    *,
    recipe: str = PAPER,
    describer: str = "",
    extractor: str = "",
    frames: int = 0,
    name: str = "",
    device: str = "auto",
) -> Descriptions:
    """Store the order and queue its job (`descriptions.job`). `person` None is the operator of the command line.

    What is left empty is taken from the recipe. AccessDenied without the researcher's role; EvaluationError for what
    cannot be asked for; GenerationError for an unknown endpoint, and for a path outside the folder of models where a
    person asks.
    """
    require_researcher(person, project)
    if recipe not in RECIPES:
        raise EvaluationError(f"unknown recipe '{recipe}'; choose one of: {', '.join(RECIPES)}")
    chosen = RECIPES[recipe]
    check_device(device)
    if not 0 <= frames <= MAX_FRAMES:
        raise EvaluationError(f"{frames} frames a video are not possible; give 1 to {MAX_FRAMES}")
    made = Descriptions.objects.create(
        project=project,
        name=(" ".join(name.split()) or chosen.label)[:MAX_NAME_LENGTH],
        describer=checked_model(describer.strip() or chosen.describer, person),
        extractor=checked_model(extractor.strip() or chosen.extractor, person),
        params={
            "recipe": recipe,
            "frames": frames or chosen.frames,
            "temperature": chosen.temperature,
            "max_words": chosen.max_words,
            "max_tokens": chosen.max_tokens,
            "device": device,
        },
        created_by=person,
    )
    queue_description(made)
    details = {"describer": made.describer, "extractor": made.extractor, **made.params}
    audit.record(audit.event(project, person, "evaluation.describe_videos", made, **details))
    return made


@transaction.atomic
def resume_description(person: User | None, descriptions: Descriptions) -> Descriptions:
    """Queue the job again, for videos that came since and for what got no answer. EvaluationError while it is at work,
    and where the texts come from a file."""
    require_researcher(person, descriptions.project)
    rows = Descriptions.objects.select_for_update(of=("self",), no_key=True).select_related("job")
    locked = rows.get(pk=descriptions.pk)
    if locked.job is not None and not locked.job.is_over:
        raise EvaluationError(_("This is being described already; wait until it is done."))
    if not locked.extractor:
        raise EvaluationError(_("These descriptions came from a file; bring the file again to renew them."))
    queue_description(locked)
    audit.record(audit.event(locked.project, person, "evaluation.go_on_describing", locked))
    return locked


def queue_description(made: Descriptions) -> None:
    title = _("Descriptions of frames: %(name)s") % {"name": made.name}
    made.job = enqueue(JOB, made.pk, queue="gpu", title=title, project_id=made.project_id)
    made.save(update_fields=["job"])


def checked_model(spec: str, person: User | None) -> str:
    """A model as it is stored: a path absolute, and only below the folder of models where a person asks."""
    if not spec or len(spec) > MAX_MODEL_LENGTH or not spec.isprintable():
        raise EvaluationError(_("Name a model: a hub id or folder with what it is before it, such as vlm:ID."))
    if spec.startswith(ENDPOINT):
        find_endpoint(spec.removeprefix(ENDPOINT).partition(":")[0])
        return spec
    only_below = Path(settings.MODEL_ROOT) if person is not None else None
    return str(with_paths({"model": spec}, only_below=only_below)["model"])
