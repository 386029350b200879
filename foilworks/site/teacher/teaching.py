"""Run the training job: collect, query the teacher in shards, measure two steps, evaluate the release, train with a
curve, evaluate again.

Student, teacher and captions all exist before the first step, or one message says what is missing. The work of a killed
worker is reused: the captions, the teacher's similarities, the evaluation before, the checkpoint and its curve.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import distributed

from evaluation.errors import EvaluationError
from evaluation.scoring.trusted_models import trust_of
from foilworks.core.hub.loading.clip_checkpoints import OPTIONS
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.training.dual_encoders import Student, open_student
from foilworks.core.hub.training.text_to_text import folder_hash
from foilworks.core.jobs.lease import write
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.spread import Spread
from foilworks.core.projects.model_folders import models_of
from foilworks.site.teacher.asking import ask_teacher, cosines_of, work_of
from foilworks.site.teacher.checkpoints import resumes_at, stored_points
from foilworks.site.teacher.estimating import estimate
from foilworks.site.teacher.examples import Examples, examples_of
from foilworks.site.teacher.footage import Footage, clip_of, frozen_clip
from foilworks.site.teacher.held_out import Divided, divide
from foilworks.site.teacher.measuring import measured, read
from foilworks.site.teacher.models import StudentEvaluation, TeacherPoint, TeacherTraining
from foilworks.site.teacher.plan import Plan, plan_of, takes_logit_scale
from foilworks.site.teacher.ranks import Ranks, Together
from foilworks.site.teacher.readings import HELD, R1, STANDARD, HeldOut
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.several_gpus import report_line, train_together
from foilworks.site.teacher.sources import TrainingTexts, held_out_of, learnt_split, stored_texts
from foilworks.site.teacher.training import StepReport, check, rates_used, train

# Evaluation of a release -> the message of the job.
EVALUATING = {"before": "evaluating the release before", "after": "evaluating the release after"}
NEGATIVES = "negatives: {name}"
NORM, ESTIMATE, SELECTION = "norm of the gradients", "estimate", "selection"
# A similarity of the teacher in an estimate, which does not ask it.
ANY_COSINE = 0.5
# A step's loss and, for a point of the curve, RCAD and standard R@1.
OnReport = Callable[[StepReport, dict[str, float] | None], None]


@dataclass
class Start:
    """The plan of a training, its captions, which of them choose the model, and the student before the first step."""

    plan: Plan
    texts: TrainingTexts
    divided: Divided
    student: Student


@dataclass
class Lesson:
    """Everything that a training needs, loaded."""

    training: TeacherTraining
    plan: Plan
    student: Student
    examples: Examples
    held_out: HeldOut | None
    held_out_clips: Footage
    curve_set: HeldOut | None = None
    curve_clips: Footage | None = None

    @property
    def interval(self) -> int:
        """Return the steps between two points: a divisor of the checkpoints' interval, so that a resumed curve is
        equal.
        """
        requested_interval, every = self.training.params["curve_every"], self.plan.save_every
        return max(n for n in range(1, every + 1) if every % n == 0 and n <= max(1, requested_interval))


def run_training(training: TeacherTraining, job: Job) -> Spread | None:
    """Train as the row says; do nothing if it is done. Returns the `Spread` to return from the job, or None at the end.

    EvaluationError, HubError, MediaError: one clear message.
    """
    work = work_of(training)
    if not training.model_spec:
        # Before the shards: a student that does not load ends the job at once.
        start = start_of(training)
        if start.plan.objective.lgt > 0 and (outcome := ask_teacher(training, start.texts, job)) is not None:
            return outcome
        lesson = lesson_of(training, start)
        _estimate(lesson, job)
        _read_before(lesson, job)
        training.points.filter(step__gt=resumes_at(work)).delete()
        teach = train_together if training.params["processes"] > 1 else learn
        teach(lesson, work, _noted(lesson, job))
        training.sources[SELECTION] = {**training.sources[SELECTION], **_chosen(lesson, work)}
        training.model_spec = _install_model(lesson, work)
        training.save(update_fields=["model_spec", "sources"])
    # Also the folder of a worker that was killed after the line above.
    shutil.rmtree(work, ignore_errors=True)
    for reading in training.readings.select_related("release"):
        run_reading(reading, job)
    return None


def start_of(training: TeacherTraining, *, device: str = "", work: Path | None = None) -> Start:
    """Load captions and student. `work`: the folder for the captions, that of the training by default."""
    plan, folder = plan_of(training.params, training.seed), work or work_of(training)
    training_texts, videos = stored_texts(training, folder, needs_negatives=plan.objective.needs_negatives)
    divided = divide(training, training_texts, videos, folder)
    footage = Footage([clip_of(videos[index]) for index in divided.learned])
    trust = trust_of(training.project, training.student)
    student = open_student(training.student, footage, device=device or training.params["device"], trust=trust)
    footage.show_to(student.adapter.info)
    if training.params.get("checkpointing"):
        student.save_memory()
    if takes_logit_scale(training.params):
        plan = replace(plan, objective=replace(plan.objective, contrastive_temperature=student.own_temperature))
    return Start(plan, training_texts, divided, student)


def lesson_of(training: TeacherTraining, start: Start) -> Lesson:
    """Load the stored similarities of the teacher, and the part of the release for the curve."""
    # No other loss needs the teacher.
    cosines = cosines_of(training, start.texts) if start.plan.objective.lgt > 0 else None
    lesson = _lesson(training, start, cosines)
    if training.release is not None:
        held_out, members, _ = held_out_of(training.release, learnt_split(training.params))
        lesson.curve_set, clip_indices = held_out.spread_sample(training.params["curve_items"])
        lesson.curve_clips = Footage([frozen_clip(members[index]) for index in clip_indices])
        lesson.curve_clips.show_to(start.student.adapter.info)
    rates = rates_used(start.student, start.plan)
    training.sources = {**start.texts.provenance, SELECTION: start.divided.facts, "rates": rates}
    return lesson


def _lesson(training: TeacherTraining, start: Start, cosines: list[list[float]] | None) -> Lesson:
    training_texts, rows = start.texts, start.divided.learned
    captions, negatives = (
        [training_texts.captions[row] for row in rows],
        [training_texts.negatives[row] for row in rows],
    )
    learned_cosines = [cosines[row] for row in rows] if cosines is not None else None
    examples = examples_of(captions, negatives, learned_cosines, [training_texts.videos[row] for row in rows])
    check(examples, start.plan.objective)
    held_out_clips = Footage([clip_of(video) for video in start.divided.videos])
    held_out_clips.show_to(start.student.adapter.info)
    return Lesson(training, start.plan, start.student, examples, start.divided.held_out, held_out_clips)


def estimate_training(training: TeacherTraining) -> dict[str, Any]:
    """Return the estimate for a training that is not stored; nothing of it remains.

    EvaluationError, HubError, MediaError: what would stop the training before its first step.
    """
    with TemporaryDirectory() as folder:
        start = start_of(training, work=Path(folder))
    placeholder_cosines = [[ANY_COSINE] * len(row) for row in start.texts.negatives]
    lesson = _lesson(training, start, placeholder_cosines)
    return estimate(lesson.student, lesson.examples, lesson.plan, training.params["processes"])


def _estimate(lesson: Lesson, job: Job) -> None:
    """Measure two steps for the page of the training, unless that was done before."""
    if ESTIMATE not in job.measured:
        progress(job, 0, lesson.plan.steps, "measuring two steps")
        training_estimate = estimate(lesson.student, lesson.examples, lesson.plan, lesson.training.params["processes"])
        job.measured = {**job.measured, ESTIMATE: training_estimate}
        write(job, measured=job.measured)


def learn(lesson: Lesson, work: Path, on_report: OnReport, ranks: Ranks | None = None) -> None:
    """Run the training loop with its curve; the trained model is then in `work`/model."""
    student, first = lesson.student, ranks is None or ranks.rank == 0

    def report_step(report: StepReport) -> None:
        if not first:
            return
        point = report.step % lesson.interval == 0 or report.step == lesson.plan.steps
        on_report(report, _curve(lesson) if point else None)

    selection = _selection(lesson, work)
    train(student, lesson.examples, lesson.plan, folder=work, on_step=report_step, ranks=ranks, selection=selection)
    if first:
        shutil.rmtree(work / "model", ignore_errors=True)
        student.save(work / "model", _card(lesson))


def _selection(lesson: Lesson, work: Path) -> Selection | None:
    held_out = lesson.held_out
    if held_out is None:
        return None
    # A plain training is chosen by what it learns.
    names = (R1, STANDARD) if lesson.plan.objective.needs_negatives else (STANDARD, R1)

    def measure() -> dict[str, float]:
        means = measured(lesson.student.adapter, held_out, lesson.held_out_clips)
        return {name: means[name] for name in names if name in means}

    n = len(set(held_out.sources))
    return Selection(work, measure, every=lesson.interval, patience=lesson.plan.patience, n=n)


def _chosen(lesson: Lesson, work: Path) -> dict[str, Any]:
    """Return which step's model was chosen, by which measure, and where the training stopped."""
    selection = _selection(lesson, work)
    if selection is None:
        return {}
    selection.points = stored_points(work)
    assert selection.best is not None  # the last step is a point
    measure, value = next(iter(selection.points[selection.best].items()))
    return {"step": selection.best, "measure": measure, "value": value, "stopped": max(selection.points)}


def train_rank(training: TeacherTraining, say: Callable[[str], None]) -> None:
    """Run one of the processes that torchrun started; `say` receives the lines for the job."""
    on_gpus = torch.cuda.is_available()
    distributed.init_process_group("nccl" if on_gpus else "gloo")
    device = torch.device("cuda", distributed.get_node_local_rank()) if on_gpus else torch.device("cpu")
    if on_gpus:
        torch.cuda.set_device(device)
    lesson = lesson_of(training, start_of(training, device=str(device)))
    learn(lesson, work_of(training), lambda report, curve: say(report_line(report, curve)), Together())
    distributed.destroy_process_group()


def _curve(lesson: Lesson) -> dict[str, float]:
    if lesson.curve_set is None or lesson.curve_clips is None:
        return {}
    lesson.student.module.eval()
    means = measured(lesson.student.adapter, lesson.curve_set, lesson.curve_clips)
    measures = (("rcad", R1), ("standard", STANDARD))
    return {name: means[measure] for name, measure in measures if measure in means}


def _noted(lesson: Lesson, job: Job) -> OnReport:
    """Write the curve into the database, and the progress of the job."""
    training, since = lesson.training, []  # type: ignore[var-annotated]

    def record_report(report: StepReport, curve: dict[str, float] | None) -> None:
        since.append(report.loss)
        if curve is not None:
            counts = {NEGATIVES.format(name=name): value for name, value in report.negatives.items()}
            held_out = {HELD.format(name=name): value for name, value in report.held_out.items()}
            terms = {**report.loss_terms, **counts, NORM: report.norm, **held_out}
            values = {"loss": sum(since) / len(since), "parts": terms, **curve}
            TeacherPoint.objects.update_or_create(training=training, step=report.step, defaults=values)
            since.clear()
        progress(job, report.step, lesson.plan.steps, f"loss: {report.loss:.3f}")

    return record_report


def _read_before(lesson: Lesson, job: Job) -> None:
    """Evaluate the student itself before the training."""
    training = lesson.training
    training.save(update_fields=["sources"])
    for reading in training.readings.filter(before__isnull=True).select_related("release"):
        _fill(reading, "before", lesson.student.adapter, job)


def run_reading(reading: StudentEvaluation, job: Job) -> None:
    """Evaluate the release by the student before and by the trained model, whichever is missing."""
    training = reading.training
    if not training.model_spec:
        raise EvaluationError(f"training {training.pk} is not done; evaluate a release when it is")
    split = learnt_split(training.params)
    if reading.after is None and held_out_of(reading.release, split)[2] != reading.left_out:
        # A clip has got or lost its file since; before and after must cover the same items.
        reading.before = None
    for phase, spec in (("before", training.student), ("after", training.model_spec)):
        if getattr(reading, phase) is None:
            trust = trust_of(training.project, spec)
            _fill(reading, phase, open_adapter(spec, device=training.params["device"], trust=trust), job)


def _fill(reading: StudentEvaluation, phase: str, adapter: object, job: Job) -> None:
    held_out, members, left_out = held_out_of(reading.release, learnt_split(reading.training.params))
    footage = Footage([frozen_clip(member) for member in members])
    footage.show_to(adapter.info)  # type: ignore[attr-defined]
    total = len(members)
    words = EVALUATING[phase]
    result = read(adapter, held_out, footage, lambda done: progress(job, done, total, words))  # type: ignore[arg-type]
    setattr(reading, phase, result.plain())
    reading.left_out = left_out
    reading.save(update_fields=[phase, "left_out"])


def _card(lesson: Lesson) -> dict[str, object]:
    training = lesson.training
    return {
        "adaptation": "fine_tuned",
        "objectives": f"LLM-teacher: {training.objective}; {training.captions_per_clip}".strip("; "),
        "notes": f"from {training.student}; captions {training.sources.get('sha256', '')[:16]}, seed {training.seed}",
    }


def _install_model(lesson: Lesson, work: Path) -> str:
    """Return the spec of the trained model, in the installation's models under its hash."""
    name = f"taught/{folder_hash(work / 'model')}"
    target = models_of(lesson.training.project_id) / name
    slug, _, argument = lesson.training.student.partition(":")
    parameters = argument.partition("?")[2].split("&")
    options = "&".join(parameter for parameter in parameters if parameter.partition("=")[0] not in OPTIONS)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / "model").rename(target)
    return f"{slug}:{target}?{options}" if options else f"{slug}:{target}"
