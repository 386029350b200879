"""The biases of a data set, to be measured from its descriptions (UTD)."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import check_device
from evaluation.utd.actions.describe_videos import MAX_NAME_LENGTH, checked_model
from evaluation.utd.instructions import CLASSIFICATION, TASKS
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.recipes import RECIPES
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import User

JOB = "evaluation.utd.jobs.measure_bias"
READINGS = ("score", "oracle")
MAX_LABELS_LENGTH = 100


@transaction.atomic
def measure_bias(
    person: User | None,
    descriptions: Descriptions,
    *,
    task: str = CLASSIFICATION,
    labels: str = "",
    encoder: str = "",
    max_reading: str = "score",
    name: str = "",
    device: str = "auto",
    seed: int = 0,
) -> BiasRun:
    """Store the order and queue its job (`run.job`). `person` None is the operator of the command line.

    `labels`: where classes stand (class_label, category, facts:NAME), or how the keys of captions begin. `encoder`:
    that of the descriptions' recipe where it is empty. AccessDenied, EvaluationError, GenerationError as in
    `describe_videos`.
    """
    project = descriptions.project
    require_researcher(person, project)
    if task not in TASKS or max_reading not in READINGS:
        raise EvaluationError(f"'{task}', '{max_reading}': choose {' or '.join(TASKS)}, and {' or '.join(READINGS)}")
    check_device(device)
    if len(labels) > MAX_LABELS_LENGTH:
        raise EvaluationError(f"classes are named by at most {MAX_LABELS_LENGTH} characters; shorten it")
    recipe = RECIPES.get(descriptions.params.get("recipe", ""))
    chosen = checked_model(encoder.strip() or (recipe.encoder if recipe else ""), person)
    shown = " ".join(name.split()) or f"{descriptions.name}: {labels or task}"
    run = BiasRun.objects.create(
        project=project,
        descriptions=descriptions,
        name=shown[:MAX_NAME_LENGTH],
        task=task,
        labels=labels.strip(),
        encoder=chosen,
        params={"max_reading": max_reading, "device": device, "seed": seed},
        created_by=person,
    )
    run.job = enqueue(JOB, run.pk, queue="gpu", title=_("Bias of %(name)s") % {"name": run.name}, project_id=project.pk)
    run.save(update_fields=["job"])
    details = {"descriptions": descriptions.pk, "task": task, "labels": labels, "encoder": chosen, **run.params}
    audit.record(audit.event(project, person, "evaluation.measure_bias", run, **details))
    return run
