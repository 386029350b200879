"""Start and resume trainings; evaluate a release."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.run_request import check_device, checked_spec
from evaluation.utd.subsets import subset, summarized
from foilworks.core.corpus.models import Release, Split
from foilworks.core.jobs.queue import enqueue, retry
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import parse_params
from foilworks.site.teacher.held_out import check_selection
from foilworks.site.teacher.mixtures import NEGATIVES
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.plan import TEACHING, plan_of
from foilworks.site.teacher.sources import TrainingTexts, check_held_out, collect, learnt_split
from foilworks.site.teacher.training_request import TrainingRequest
from generation.model_paths import with_paths

JOB, READING_JOB = "teacher.run", "teacher.read_release"
# Dual encoders of foilworks.core.hub.training.dual_encoders.
STUDENTS = ("clip", "tiny", "video", "xclip")
# Also takes a file of weights.
WITH_FILES = "clip"
MAX_LABEL_LENGTH = 120
MAX_PROCESSES = 64


@transaction.atomic
def start_teacher(person: User | None, project: Project, request: TrainingRequest) -> TeacherTraining:
    """Store the training with its data and queue the job. `person` None is the operator of the command line.

    AccessDenied; RegistryError (a parameter); HubError (not a model); EvaluationError: an empty split, a caption
    without negatives, no run although the objective needs one, a release of train clips.
    """
    training = planned_teacher(person, project, request)
    training.save()
    training.label = _label(training, request.label)
    if request.release is not None:
        StudentEvaluation.objects.create(training=training, release=request.release)
    training.job = enqueue(
        JOB, training.pk, queue="gpu", title=_("Training %(label)s") % {"label": training.label}, project_id=project.pk
    )
    training.save(update_fields=["label", "job"])
    audit.record(
        audit.event(
            project,
            person,
            "evaluation.start_teacher",
            training,
            params=summarized(training.params),
            seed=training.seed,
        )
    )
    return training


def planned_teacher(person: User | None, project: Project, request: TrainingRequest) -> TeacherTraining:
    """Return the training that `start_teacher` would store, with the same errors."""
    require_researcher(person, project)
    params = _checked(parse_params(TEACHING, request.params), project if person is not None else None)
    params |= {"action_runs": list(request.action_runs), "object_runs": list(request.object_runs)}
    # Without the default: trainings of earlier versions share a row of the comparison.
    split = "" if request.split == Split.TRAIN else request.split
    params |= subset(project, split, request.videos) | (request.mixture.params if request.mixture else {})
    captions, release = _collected(project, params, request.seed), request.release
    if release is not None:
        if release.project_id != project.pk:
            raise EvaluationError(_("This release belongs to another project. Choose a release of this project."))
        check_held_out(release, learnt_split(params))
    check_selection(release, captions, params)
    return TeacherTraining(
        project=project,
        student=params["student"],
        params=params,
        seed=request.seed,
        release=release,
        sources=captions.provenance,
        created_by=person,
    )


def _label(training: TeacherTraining, label: str) -> str:
    by_itself = "; ".join(filter(None, (training.objective, training.captions_per_clip, training.student_name)))
    return (" ".join(label.split()) or by_itself)[:MAX_LABEL_LENGTH]


def _collected(project: Project, params: Mapping[str, Any], seed: int) -> TrainingTexts:
    """Return the captions and negatives that the objective needs; EvaluationError if there are none."""
    needs_negatives = plan_of(params, seed).objective.needs_negatives
    if needs_negatives and not _requests_negatives(params):
        raise EvaluationError(
            _("The objectives lbl and lgt need negative captions. Choose a run and the number of captions of its type.")
        )
    return collect(project, params, needs_negatives=needs_negatives)


@transaction.atomic
def read_release(person: User | None, training: TeacherTraining, release: Release) -> StudentEvaluation:
    """Queue the evaluation of a release by the student before and by the trained model; an existing one is kept.

    AccessDenied; EvaluationError: the training is not done, a release of another project or of train clips.
    """
    require_researcher(person, training.project)
    if not training.model_spec:
        raise EvaluationError(_("The training is not done. Evaluate a release when it is done."))
    if release.project_id != training.project_id:
        raise EvaluationError(_("This release belongs to another project. Choose a release of this project."))
    check_held_out(release, learnt_split(training.params))
    check_selection(release, None, training.params)
    reading, new = StudentEvaluation.objects.get_or_create(training=training, release=release)
    if reading.after is None and (new or reading.job is None or reading.job.is_over):
        title = _("%(label)s on %(release)s") % {"label": training.label, "release": release.name}
        reading.job = enqueue(READING_JOB, reading.pk, queue="gpu", title=title, project_id=training.project_id)
        reading.save(update_fields=["job"])
        audit.record(audit.event(training.project, person, "evaluation.read_release", reading, release=release.pk))
    return reading


def _checked(params: dict[str, Any], owner: Project | None) -> dict[str, Any]:
    """Return the parameters with absolute paths."""
    slug, argument = checked_spec(params["student"], owner)
    if slug not in STUDENTS:
        choices = ", ".join(f"{name}:…" for name in STUDENTS)
        raise EvaluationError(
            f"student: {quoted(params['student'])} cannot be trained; choose a dual encoder: {choices}"
        )
    if slug != WITH_FILES or not Path(argument.partition("?")[0]).is_file():
        _refuse_absent("student", argument.partition("?")[0])
    teacher = with_paths({"model": params["teacher"].strip()}, owner=owner)["model"]
    if params["lgt"] > 0:
        _refuse_absent("teacher", teacher.partition(":")[2] if teacher.startswith("sentence:") else teacher)
    check_device(params["device"])
    if min(params["actions"], params["objects"], params["curve_items"] - 1, params["curve_every"] - 1) < 0:
        raise EvaluationError("actions and objects must be 0 or more, curve_every and curve_items 1 or more")
    if not 1 <= params["processes"] <= MAX_PROCESSES:
        raise EvaluationError(f"processes: is {params['processes']}; give a number from 1 to {MAX_PROCESSES}")
    if params["batch"] % max(1, params["accumulate"] * params["processes"]):
        raise EvaluationError("batch: give a multiple of accumulate x processes")
    shares = ("learning_rate", "head_rate", "scale_rate", "warmup", "weight_decay")
    if not params["learning_rate"] or not all(0 <= params[name] <= 1 for name in shares):
        raise EvaluationError(f"{', '.join(shares)} must be between 0 and 1, and learning_rate above 0")
    return {**params, "student": f"{slug}:{argument}", "teacher": teacher}


def _refuse_absent(what: str, name: str) -> None:
    if not name:
        raise EvaluationError(f"{what}: is not a model; give a Hugging Face ID or a folder")
    if (Path(name).is_absolute() or name.startswith(".")) and not (Path(name) / "config.json").is_file():
        raise EvaluationError(f"{what}: {name}: is not a model folder; give the folder with config.json")


def _requests_negatives(params: Mapping[str, Any]) -> bool:
    return bool(
        params.get(NEGATIVES)
        or (params["actions"] and params["action_runs"])
        or (params["objects"] and params["object_runs"])
    )


@transaction.atomic
def resume_teacher(person: User | None, training: TeacherTraining) -> None:
    """Queue the unfinished part of the training. `person` None is the operator of the command line.

    AccessDenied without the researcher's role; EvaluationError: it is in progress, or done.
    """
    require_researcher(person, training.project)
    if training.job is None or not retry(training.job):
        raise EvaluationError(_("Only a failed or stopped training can be retried."))
    audit.record(audit.event(training.project, person, "evaluation.resume_teacher", training))
