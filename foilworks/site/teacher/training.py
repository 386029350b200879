"""Run the training loop: AdamW, warm-up and cosine, one video forward and one text forward per step, with checkpoints.

A killed run resumes from its checkpoint with an equal result.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evaluation.errors import EvaluationError
from foilworks.core.hub.training.llm_teacher import order
from foilworks.core.text.quoting import quoted
from foilworks.site.teacher.checkpoints import Trained, resume, save
from foilworks.site.teacher.examples import Examples, batch_of
from foilworks.site.teacher.optimizing import optimizer_of, update
from foilworks.site.teacher.plan import Objective, Plan
from foilworks.site.teacher.ranks import Alone, Ranks
from foilworks.site.teacher.reading_ahead import Step, read_ahead
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.step_losses import Student, backward


@dataclass(frozen=True)
class StepReport:
    """The report of a step: its number from 1, its loss, the parts of it with both divergences (Feint6K, Eq. 2), the
    mean number of negatives of a clip, the norm of the gradients before clipping, and the results on held-out clips at
    a point of the curve.
    """

    step: int
    loss: float
    loss_terms: dict[str, float]
    negatives: dict[str, float] = field(default_factory=dict)
    norm: float = 0.0
    held_out: dict[str, float] = field(default_factory=dict)


def train(
    student: Student,
    examples: Examples,
    plan: Plan,
    *,
    folder: Path,
    on_step: Callable[[StepReport], None] | None = None,
    go_on: Callable[[], bool] | None = None,
    ranks: Ranks | None = None,
    selection: Selection | None = None,
) -> bool:
    """Train the student in place; True if the training is done, False if `go_on` requested a stop before.

    `folder` has the latest checkpoint; training resumes from it and ends equal to a run without interruption.
    EvaluationError before the first step: an objective that needs negatives and a caption without any, or without the
    teacher's similarities; a checkpoint of another plan. `ranks`: several processes that share each step's clips. The
    gradients equal those of one process without parts. `selection` chooses the weights that the student has at the end
    (in the first process); without it, they are those of the last step.
    """
    check(examples, plan.objective)
    processes: Ranks = ranks or Alone()
    if plan.batch % (plan.accumulate * processes.size):
        raise EvaluationError(f"batch: is {plan.batch}; give a multiple of accumulate x processes ({processes.size})")
    trained = Trained(student.module, optimizer_of(student, plan), plan, selection)
    first = resume(folder, trained)
    student.module.train()
    stops = processes.agree(selection is not None and selection.is_over)
    with read_ahead(student, _steps(examples, plan, first), plan.prefetch, processes) as steps:
        for step, rows in () if stops else steps:
            if go_on is not None and not go_on():
                processes.first(lambda at=step: save(folder, at, trained))
                return False
            report = _step(student, examples, trained, (step, rows), processes)
            done = step + 1
            if selection is not None and selection.is_due(done, plan.steps):
                processes.first(lambda at=done: selection.look(at, student.module))
                stops = processes.agree(selection.is_over)
                report = replace(report, held_out=selection.points.get(done, {}))
            if on_step:
                on_step(report)
            student.module.train()
            if done % plan.save_every == 0 or done == plan.steps or stops:
                processes.first(lambda at=done: save(folder, at, trained))
            if stops:
                break
    if selection is not None:
        processes.first(lambda: selection.restore(student.module))
    student.module.eval()
    return True


def _steps(examples: Examples, plan: Plan, first: int) -> Iterator[Step]:
    for step, rows in enumerate(order(len(examples), plan.batch, plan.steps, plan.seed)):
        if step >= first:
            yield step, np.array(rows)


def check(examples: Examples, objective: Objective) -> None:
    """Raise EvaluationError if the objective lacks negatives or the teacher's similarities."""
    if not objective.needs_negatives:
        return
    missing = np.flatnonzero(~examples.with_negatives)
    if len(missing):
        text = examples.texts[examples.captions[missing[0]]]
        raise EvaluationError(
            f"{quoted(text)} has no negatives, nor do {len(missing) - 1} more captions; generate some for them, or "
            "leave them out"
        )
    if objective.lgt > 0 and np.isnan(examples.teacher[examples.negatives >= 0]).any():
        raise EvaluationError("lgt: the teacher's similarities are missing; measure them with a sentence encoder first")


def _step(student: Student, examples: Examples, trained: Trained, at: Step, ranks: Ranks) -> StepReport:
    (step, rows), plan = at, trained.plan
    trained.optimizer.zero_grad(set_to_none=True)
    batch = batch_of(examples, rows, negatives=plan.objective.needs_negatives)
    loss, losses = backward(student, batch, plan, step, ranks)
    if not np.isfinite(loss):
        raise EvaluationError(f"the loss of step {step + 1} is {loss}; lower the learning rate")
    ranks.mean_gradients(student.module)
    norm = update(student, trained.optimizer, plan, step)
    loss_terms = {name: float(value.detach()) for name, value in losses.values.items()}
    return StepReport(step + 1, loss, {**loss_terms, **losses.divergences}, losses.negatives, norm)
