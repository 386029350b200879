"""Run the training loop: AdamW, warm-up and cosine, one video forward and one text forward per step, with checkpoints.

A killed run resumes from its checkpoint with an equal result.

Read the frames of the next steps in a background thread, so that the model does not wait for decoding.

At most `depth` steps are read ahead, so memory is bounded. Order and frames are those of a training that reads by
itself.

Build the optimizer of a training: learning rates and weight decay per group of weights, and clipping.

Weight decay applies to matrices only. Biases, weights of norms and the logit scale have one dimension or none, and
shrinking them does not regularize a model (as in open_clip and CLIP4Clip).
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evaluation.errors import EvaluationError
from foilworks.core.hub.training.llm_teacher import order
from foilworks.core.text.quoting import quoted
from foilworks.site.teacher.checkpoints import Trained, resume, save
from foilworks.site.teacher.examples import Examples, batch_of
from foilworks.site.teacher.plan import Objective, Plan
from foilworks.site.teacher.ranks import Alone, Ranks
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.step_losses import Student, backward, own_rows

ReadClip = Callable[[int], Any]
# A step's number and its rows.
Step = tuple[int, NDArray[np.int64]]


@contextmanager
def read_ahead(student: Student, steps: Iterator[Step], depth: int, ranks: Ranks) -> Iterator[Iterator[Step]]:
    """Yield the same steps; the clips of a step are in memory when it begins. Errors are those of the student's
    reader, raised at the step that needs the clip.
    """
    read = student.read
    if read is None or depth < 1:
        yield steps
        return
    with ThreadPoolExecutor(1, thread_name_prefix="frames") as pool:
        ahead = _Ahead(read, pool, depth)
        student.read = ahead
        try:
            yield ahead.over(steps, ranks)
        finally:
            student.read = read
            pool.shutdown(cancel_futures=True)


class _Ahead:
    def __init__(self, read: ReadClip, pool: ThreadPoolExecutor, depth: int) -> None:
        self._read, self._pool, self._depth = read, pool, depth
        self._clips: dict[int, Any] = {}

    def __call__(self, index: int) -> Any:
        clip_frames = self._clips.get(index)
        return self._read(index) if clip_frames is None else clip_frames

    def over(self, steps: Iterator[Step], ranks: Ranks) -> Iterator[Step]:
        waiting: deque[tuple[Step, Future[dict[int, Any]]]] = deque()
        for step in steps:
            waiting.append((step, self._pool.submit(self._read_all, step[1][own_rows(len(step[1]), ranks)].tolist())))
            if len(waiting) > self._depth:
                yield self._begun(*waiting.popleft())
        while waiting:
            yield self._begun(*waiting.popleft())

    def _begun(self, step: Step, clips: Future[dict[int, Any]]) -> Step:
        self._clips = clips.result()
        return step

    def _read_all(self, indices: list[int]) -> dict[int, Any]:
        return {index: self._read(index) for index in indices}


TOWERS, HEADS, SCALE = "encoders", "added layers", "logit scale"


def optimizer_of(student: Student, plan: Plan) -> torch.optim.AdamW:
    """Return AdamW over the groups of `groups_of`."""
    return torch.optim.AdamW(groups_of(student, plan), lr=plan.learning_rate, weight_decay=plan.weight_decay)


def groups_of(student: Student, plan: Plan) -> list[dict[str, Any]]:
    """Return groups of weights with `name`, `peak` (the maximum rate) and `weight_decay`, without empty ones."""
    peaks = {
        TOWERS: plan.learning_rate,
        HEADS: plan.learning_rate if plan.head_rate is None else plan.head_rate,
        SCALE: plan.scale_rate,
    }
    weights_by_group: dict[tuple[str, bool], list[nn.Parameter]] = {}
    for name, weight in student.module.named_parameters():
        if weight.requires_grad:
            weights_by_group.setdefault((_kind(student, name, weight), weight.ndim > 1), []).append(weight)
    return [
        {
            "params": weights,
            "name": kind,
            "peak": peaks[kind],
            "weight_decay": plan.weight_decay if decays else 0.0,
        }
        for (kind, decays), weights in sorted(weights_by_group.items(), key=lambda item: item[0])
    ]


def _kind(student: Student, name: str, weight: Tensor) -> str:
    if weight is student.scale_weight:
        return SCALE
    added = any(name == head or name.startswith(f"{head}.") for head in student.heads)
    return HEADS if added else TOWERS


def rates_used(student: Student, plan: Plan) -> dict[str, dict[str, float]]:
    """Return {group: its maximum rate and number of weights}, for the record of a training."""
    rates_by_group: dict[str, dict[str, float]] = {}
    for group in groups_of(student, plan):
        row = rates_by_group.setdefault(group["name"], {"rate": group["peak"], "weights": 0})
        row["weights"] += sum(weight.numel() for weight in group["params"])
    return rates_by_group


def update(student: Student, optimizer: torch.optim.Optimizer, plan: Plan, step: int) -> float:
    """Clip the gradients and change the weights; return the norm of the gradients before clipping.

    EvaluationError: a gradient is not a number.
    """
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * plan.share(step)
    gradients = [weight.grad for weight in student.module.parameters() if weight.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients)
    if not torch.isfinite(norm):
        raise EvaluationError(
            f"the gradients of step {step + 1} have the norm {float(norm)}; lower the learning rate, or set bf16=false"
        )
    if plan.max_norm:
        torch.nn.utils.clip_grads_with_norm_(student.module.parameters(), plan.max_norm, norm)
    optimizer.step()
    if plan.scale_rate:
        student.limit_scale()
    return float(norm)


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
