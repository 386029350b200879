"""Measure biases, predict samples, check items for shortcuts."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.run_request import check_device
from evaluation.utd.ablation import ZERO_SHOT
from evaluation.utd.actions.descriptions import MAX_NAME_LENGTH, checked_model
from evaluation.utd.actions.import_benchmark import MAX_LABEL_LENGTH, expected_ids
from evaluation.utd.instructions import CLASSIFICATION, TASKS
from evaluation.utd.models import BenchmarkedModel, BiasRun, Descriptions, ItemCheck, ShortcutBar
from evaluation.utd.procedure import CURVE, checked_choices
from evaluation.utd.recipes import RECIPES
from evaluation.utd.requests import BiasRequest, PredictionRequest
from evaluation.utd.samples import samples_of
from evaluation.utd.vector_formats import SUFFIXES
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted

MEASURE_JOB = "utd.measure"
READINGS = ("score", "oracle")
MAX_LABELS_LENGTH = 100
PREDICT_JOB = "utd.answer"
MAX_EPOCHS = 1000
CHECK_JOB = "utd.check_shortcuts"


@transaction.atomic
def measure_bias(person: User | None, descriptions: Descriptions, request: BiasRequest) -> BiasRun:
    """Store the order and queue its job (`run.job`). `person` None is the operator of the command line.

    AccessDenied, EvaluationError, GenerationError as in `describe_videos`.
    """
    project, task, labels = descriptions.project, request.task, request.labels
    require_researcher(person, project)
    check_device(request.device)
    _check_task(task, request.max_reading, labels, request.vectors)
    chosen_procedure = _procedure(request.options or {}, request.class_texts or {}, request.learning_curve)
    recipe = RECIPES.get(descriptions.params.get("recipe", ""))
    encoder = checked_model(request.encoder.strip() or (recipe.encoder if recipe else ""), person, project)
    name = " ".join(request.name.split()) or f"{descriptions.name}: {labels or task}"
    params = {name: getattr(request, name) for name in ("max_reading", "device", "seed", "vectors")}
    run = BiasRun.objects.create(
        project=project,
        descriptions=descriptions,
        name=name[:MAX_NAME_LENGTH],
        task=task,
        labels=labels.strip(),
        encoder=encoder,
        params={**params, **chosen_procedure},
        created_by=person,
    )
    run.job = enqueue(
        MEASURE_JOB, run.pk, queue="gpu", title=_("Bias of %(name)s") % {"name": run.name}, project_id=project.pk
    )
    run.save(update_fields=["job"])
    params = {**run.params, "class_texts": len(request.class_texts or {})}
    details = {"descriptions": descriptions.pk, "task": task, "labels": labels, "encoder": encoder, **params}
    audit.record(audit.event(project, person, "evaluation.measure_bias", run, **details))
    return run


def _check_task(task: str, max_reading: str, labels: str, vectors: str) -> None:
    if task not in TASKS or max_reading not in READINGS:
        raise EvaluationError(
            f"{quoted(task)}, {quoted(max_reading)}: choose {' or '.join(TASKS)}, and {' or '.join(READINGS)}"
        )
    if vectors not in SUFFIXES:
        raise EvaluationError(f"{quoted(vectors)} is not a format of vectors; choose one of: {', '.join(SUFFIXES)}")
    if len(labels) > MAX_LABELS_LENGTH:
        raise EvaluationError(f"the name of the classes has at most {MAX_LABELS_LENGTH} characters; shorten it")


def _procedure(options: Mapping[str, Any], class_texts: Mapping[str, str], learning_curve: bool) -> dict[str, Any]:
    return {
        **checked_choices(options),
        **({"class_texts": dict(class_texts)} if class_texts else {}),
        **({CURVE: True} if learning_curve else {}),
    }


@transaction.atomic
def predict_samples(person: User | None, run: BiasRun, request: PredictionRequest) -> BenchmarkedModel:
    """Store the row and queue its job (`row.job`); a model of the same label is replaced.

    AccessDenied without the researcher's role; EvaluationError, GenerationError: invalid parameters.
    """
    project, zero_shot, device = run.project, request.zero_shot, request.device
    require_researcher(person, project)
    expected_ids(run)
    if run.descriptions is None:
        samples_of(run)
    check_device(device)
    if not 1 <= request.epochs <= MAX_EPOCHS:
        raise EvaluationError(f"{request.epochs} epochs are not allowed; give 1 to {MAX_EPOCHS}")
    spec = checked_model(request.model.strip(), person, project)
    second = _second_model(person, run, request.rerank.strip(), zero_shot)
    label = (request.label.strip() or spec.rpartition("/")[2])[:MAX_LABEL_LENGTH]
    training = {"epochs": request.epochs, "augment": request.augment}
    values = {
        "source": f"{ZERO_SHOT if zero_shot else ''}{spec}"[:500],
        "right": {},
        "details": {"device": device, **(second if zero_shot else training)},
        "scored_at": None,
        "created_by": person,
    }
    row, _created = BenchmarkedModel.objects.update_or_create(run=run, label=label, defaults=values)
    title = _("%(label)s on %(run)s") % {"label": label, "run": run.name}
    row.job = enqueue(PREDICT_JOB, row.pk, queue="gpu", title=title, project_id=project.pk)
    row.save(update_fields=["job"])
    details = {"model": spec, "zero_shot": zero_shot, "run": run.pk, "label": label, **second}
    audit.record(audit.event(project, person, "evaluation.answer_samples", row, **details))
    return row


def _second_model(person: User | None, run: BiasRun, spec: str, zero_shot: bool) -> dict[str, str]:
    if not spec:
        return {}
    if not zero_shot or run.task == CLASSIFICATION:
        raise EvaluationError(
            _("Only text-to-video retrieval without training is ranked again. Leave the second model empty.")
        )
    return {"rerank": checked_model(spec, person, run.project)}


@transaction.atomic
def check_shortcuts(
    person: User | None, descriptions: Descriptions, *, encoder: str = "", device: str = "auto"
) -> ItemCheck:
    """Store the order and queue its job (`check.job`). `person` None is the operator of the command line.

    AccessDenied without the researcher's role; EvaluationError, GenerationError: an invalid encoder.
    """
    project = descriptions.project
    require_researcher(person, project)
    check_device(device)
    recipe = RECIPES.get(descriptions.params.get("recipe", ""))
    encoder_spec = checked_model(encoder.strip() or (recipe.encoder if recipe else ""), person, project)
    check = ItemCheck.objects.create(
        descriptions=descriptions, encoder=encoder_spec, params={"device": device}, created_by=person
    )
    check.job = enqueue(CHECK_JOB, check.pk, queue="gpu", title=_("Items with shortcuts"), project_id=project.pk)
    check.save(update_fields=["job"])
    details = {"descriptions": descriptions.pk, "encoder": encoder_spec}
    audit.record(audit.event(project, person, "evaluation.check_shortcuts", check, **details))
    return check


@transaction.atomic
def set_shortcut_bar(person: User, project: Project, share: float | None) -> None:
    """Set the largest share of a release's items that objects alone may answer; None removes the limit.

    AccessDenied without the researcher's role; EvaluationError: not a share from 0 to 1.
    """
    require_role(person, project, Role.RESEARCHER)
    if share is not None and not 0 <= share <= 1:
        raise EvaluationError(_("The limit must be a share from 0 to 1. Leave it empty for no limit."))
    before = ShortcutBar.objects.filter(project=project).values_list("share", flat=True).first()
    if before == share:
        return
    if share is None:
        ShortcutBar.objects.filter(project=project).delete()
    else:
        ShortcutBar.objects.update_or_create(project=project, defaults={"share": share, "changed_by": person})
    audit.record(audit.event(project, person, "evaluation.set_shortcut_bar", project, before=before, after=share))
