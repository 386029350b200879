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
from django.conf import settings
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
from foilworks.site.teacher.asking import ask_teacher, cosines_of, work_of
from foilworks.site.teacher.checkpoints import resumes_at, stored_points
from foilworks.site.teacher.estimating import estimate
from foilworks.site.teacher.examples import Examples, examples_of
from foilworks.site.teacher.footage import Footage, clip_of, frozen_clip
from foilworks.site.teacher.held_out import Divided, divide
from foilworks.site.teacher.measuring import measured, read
from foilworks.site.teacher.models import StudentEvaluation, TeacherPoint, TeacherTraining
from foilworks.site.teacher.optimizing import rates_used
from foilworks.site.teacher.plan import Plan, plan_of, takes_logit_scale
from foilworks.site.teacher.ranks import Ranks, Together
from foilworks.site.teacher.readings import HELD, R1, STANDARD, HeldOut
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.sources import Collected, held_out_of, kept_sources, learnt_split
from foilworks.site.teacher.together import tell, train_together
from foilworks.site.teacher.training import Heard, check, train

# Evaluation of a release -> the message of the job.
EVALUATING = {"before": "evaluating the release before", "after": "evaluating the release after"}
NEGATIVES = "negatives: {name}"
NORM, ESTIMATE, SELECTION = "norm of the gradients", "estimate", "selection"
# A similarity of the teacher in an estimate, which does not ask it.
ANY_COSINE = 0.5
# A step's loss and, for a point of the curve, RCAD and standard R@1.
Told = Callable[[Heard, dict[str, float] | None], None]


@dataclass
class Start:
    """The plan of a training, its captions, which of them choose the model, and the student before the first step."""

    plan: Plan
    found: Collected
    divided: Divided
    student: Student


@dataclass
class Lesson:
    """Everything that a training needs, loaded."""

    training: TeacherTraining
    plan: Plan
    student: Student
    examples: Examples
    held: HeldOut | None
    held_shown: Footage
    part: HeldOut | None = None
    part_shown: Footage | None = None

    @property
    def interval(self) -> int:
        """Return the steps between two points: a divisor of the checkpoints' interval, so that a resumed curve is
        equal.
        """
        wanted, every = self.training.params["curve_every"], self.plan.save_every
        return max(n for n in range(1, every + 1) if every % n == 0 and n <= max(1, wanted))


def run_training(training: TeacherTraining, job: Job) -> Spread | None:
    """Train as the row says; do nothing if it is done. Returns the `Spread` to return from the job, or None at the end.

    EvaluationError, HubError, MediaError: one clear message.
    """
    work = work_of(training)
    if not training.model_spec:
        # Before the shards: a student that does not load ends the job at once.
        start = start_of(training)
        if start.plan.objective.lgt > 0 and (asked := ask_teacher(training, start.found, job)) is not None:
            return asked
        lesson = lesson_of(training, start)
        _estimate(lesson, job)
        _read_before(lesson, job)
        training.points.filter(step__gt=resumes_at(work)).delete()
        teach = train_together if training.params["processes"] > 1 else learn
        teach(lesson, work, _noted(lesson, job))
        training.sources[SELECTION] = {**training.sources[SELECTION], **_chosen(lesson, work)}
        training.model_spec = _kept(lesson, work)
        training.save(update_fields=["model_spec", "sources"])
    # Also the folder of a worker that was killed after the line above.
    shutil.rmtree(work, ignore_errors=True)
    for reading in training.readings.select_related("release"):
        run_reading(reading, job)
    return None


def start_of(training: TeacherTraining, *, device: str = "", work: Path | None = None) -> Start:
    """Load captions and student. `work`: the folder for the captions, that of the training by default."""
    plan, folder = plan_of(training.params, training.seed), work or work_of(training)
    found, videos = kept_sources(training, folder, needs_negatives=plan.objective.needs_negatives)
    divided = divide(training, found, videos, folder)
    footage = Footage([clip_of(videos[place]) for place in divided.learned])
    trust = trust_of(training.project, training.student)
    student = open_student(training.student, footage, device=device or training.params["device"], trust=trust)
    footage.show_to(student.adapter.info)
    if training.params.get("checkpointing"):
        student.save_memory()
    if takes_logit_scale(training.params):
        plan = replace(plan, objective=replace(plan.objective, contrastive_temperature=student.own_temperature))
    return Start(plan, found, divided, student)


def lesson_of(training: TeacherTraining, start: Start) -> Lesson:
    """Load the stored similarities of the teacher, and the part of the release for the curve."""
    # No other loss needs the teacher.
    cosines = cosines_of(training, start.found) if start.plan.objective.lgt > 0 else None
    lesson = _lesson(training, start, cosines)
    if training.release is not None:
        held, members, _ = held_out_of(training.release, learnt_split(training.params))
        lesson.part, places = held.part(training.params["curve_items"])
        lesson.part_shown = Footage([frozen_clip(members[place]) for place in places])
        lesson.part_shown.show_to(start.student.adapter.info)
    rates = rates_used(start.student, start.plan)
    training.sources = {**start.found.provenance, SELECTION: start.divided.about, "rates": rates}
    return lesson


def _lesson(training: TeacherTraining, start: Start, cosines: list[list[float]] | None) -> Lesson:
    found, rows = start.found, start.divided.learned
    captions, negatives = [found.captions[row] for row in rows], [found.negatives[row] for row in rows]
    told = [cosines[row] for row in rows] if cosines is not None else None
    examples = examples_of(captions, negatives, told, [found.videos[row] for row in rows])
    check(examples, start.plan.objective)
    shown = Footage([clip_of(video) for video in start.divided.videos])
    shown.show_to(start.student.adapter.info)
    return Lesson(training, start.plan, start.student, examples, start.divided.held, shown)


def estimate_training(training: TeacherTraining) -> dict[str, Any]:
    """Return the estimate for a training that is not stored; nothing of it remains.

    EvaluationError, HubError, MediaError: what would stop the training before its first step.
    """
    with TemporaryDirectory() as folder:
        start = start_of(training, work=Path(folder))
    told = [[ANY_COSINE] * len(row) for row in start.found.negatives]
    lesson = _lesson(training, start, told)
    return estimate(lesson.student, lesson.examples, lesson.plan, training.params["processes"])


def _estimate(lesson: Lesson, job: Job) -> None:
    """Measure two steps for the page of the training, unless that was done before."""
    if ESTIMATE not in job.measured:
        progress(job, 0, lesson.plan.steps, "measuring two steps")
        found = estimate(lesson.student, lesson.examples, lesson.plan, lesson.training.params["processes"])
        job.measured = {**job.measured, ESTIMATE: found}
        write(job, measured=job.measured)


def learn(lesson: Lesson, work: Path, told: Told, ranks: Ranks | None = None) -> None:
    """Run the training loop with its curve; the trained model is then in `work`/model."""
    student, first = lesson.student, ranks is None or ranks.rank == 0

    def heard(said: Heard) -> None:
        if not first:
            return
        point = said.step % lesson.interval == 0 or said.step == lesson.plan.steps
        told(said, _curve(lesson) if point else None)

    selection = _selection(lesson, work)
    train(student, lesson.examples, lesson.plan, folder=work, heard=heard, ranks=ranks, selection=selection)
    if first:
        shutil.rmtree(work / "model", ignore_errors=True)
        student.save(work / "model", _card(lesson))


def _selection(lesson: Lesson, work: Path) -> Selection | None:
    held = lesson.held
    if held is None:
        return None
    # A plain training is chosen by what it learns.
    names = (R1, STANDARD) if lesson.plan.objective.needs_negatives else (STANDARD, R1)

    def measure() -> dict[str, float]:
        found = measured(lesson.student.adapter, held, lesson.held_shown)
        return {name: found[name] for name in names if name in found}

    n = len(set(held.sources))
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
    learn(lesson, work_of(training), lambda said, curve: say(tell(said, curve)), Together())
    distributed.destroy_process_group()


def _curve(lesson: Lesson) -> dict[str, float]:
    if lesson.part is None or lesson.part_shown is None:
        return {}
    lesson.student.module.eval()
    found = measured(lesson.student.adapter, lesson.part, lesson.part_shown)
    named = (("rcad", R1), ("standard", STANDARD))
    return {name: found[measure] for name, measure in named if measure in found}


def _noted(lesson: Lesson, job: Job) -> Told:
    """Write the curve into the database, and the progress of the job."""
    training, since = lesson.training, []  # type: ignore[var-annotated]

    def told(said: Heard, curve: dict[str, float] | None) -> None:
        since.append(said.loss)
        if curve is not None:
            counts = {NEGATIVES.format(name=name): value for name, value in said.negatives.items()}
            held = {HELD.format(name=name): value for name, value in said.held_out.items()}
            parts = {**said.parts, **counts, NORM: said.norm, **held}
            values = {"loss": sum(since) / len(since), "parts": parts, **curve}
            TeacherPoint.objects.update_or_create(training=training, step=said.step, defaults=values)
            since.clear()
        progress(job, said.step, lesson.plan.steps, f"loss: {said.loss:.3f}")

    return told


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
    held, members, left_out = held_out_of(reading.release, learnt_split(reading.training.params))
    footage = Footage([frozen_clip(member) for member in members])
    footage.show_to(adapter.info)  # type: ignore[attr-defined]
    total = len(members)
    words = EVALUATING[phase]
    found = read(adapter, held, footage, lambda done: progress(job, done, total, words))  # type: ignore[arg-type]
    setattr(reading, phase, found.plain())
    reading.left_out = left_out
    reading.save(update_fields=[phase, "left_out"])


def _card(lesson: Lesson) -> dict[str, object]:
    training = lesson.training
    return {
        "adaptation": "fine_tuned",
        "objectives": f"LLM-teacher: {training.objective}; {training.captions_per_clip}".strip("; "),
        "notes": f"from {training.student}; captions {training.sources.get('sha256', '')[:16]}, seed {training.seed}",
    }


def _kept(lesson: Lesson, work: Path) -> str:
    """Return the spec of the trained model, in the installation's models under its hash."""
    name = f"taught/{folder_hash(work / 'model')}"
    target = Path(settings.MODEL_ROOT) / name
    slug, _, argument = lesson.training.student.partition(":")
    given = argument.partition("?")[2].split("&")
    options = "&".join(each for each in given if each.partition("=")[0] not in OPTIONS)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / "model").rename(target)
    return f"{slug}:{target}?{options}" if options else f"{slug}:{target}"
