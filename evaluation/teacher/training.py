"""Run the training loop: AdamW, warm-up and cosine, one video forward and one text forward per step, with checkpoints.

A killed run resumes from its checkpoint with an equal result. A checkpoint is a folder with safetensors and JSON, never
a pickle, and is replaced atomically.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from evaluation.errors import EvaluationError
from evaluation.teacher.examples import Examples, batch_of
from evaluation.teacher.plan import Objective, Plan
from evaluation.teacher.ranks import Alone, Ranks
from evaluation.teacher.steps import Student, backward
from hub.training.llm_teacher import order
from text.quoting import quoted

STATE, OPTIMIZER, MODEL = "state.json", "optimizer.safetensors", "model.safetensors"
LATEST = "checkpoint"
# Counts up whenever the same plan gives another loss.
LOSSES = 2


@dataclass(frozen=True)
class Heard:
    """The report of a step: its number from 1, its loss, the parts of it with both divergences (Feint6K, Eq. 2), and
    the mean number of negatives of a clip."""

    step: int
    loss: float
    parts: dict[str, float]
    negatives: dict[str, float] = field(default_factory=dict)


def train(
    student: Student,
    examples: Examples,
    plan: Plan,
    *,
    folder: Path,
    heard: Callable[[Heard], None] | None = None,
    go_on: Callable[[], bool] | None = None,
    ranks: Ranks | None = None,
) -> bool:
    """Train the student in place; True if all steps are done, False if `go_on` requested a stop before.

    `folder` has the latest checkpoint; training resumes from it and ends equal to a run without interruption.
    EvaluationError before the first step: an objective that needs negatives and a caption without any, or without the
    teacher's similarities; a checkpoint of another plan. `ranks`: several processes that share each step's clips. The
    gradients equal those of one process without parts.
    """
    check(examples, plan.objective)
    others: Ranks = ranks or Alone()
    if plan.batch % (plan.accumulate * others.size):
        raise EvaluationError(f"batch: is {plan.batch}; give a multiple of accumulate x processes ({others.size})")
    optimizer = torch.optim.AdamW(student.module.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay)
    first = _resume(folder / LATEST, student.module, optimizer, plan)
    student.module.train()
    for step, rows in enumerate(order(len(examples), plan.batch, plan.steps, plan.seed)):
        if step < first:
            continue
        if go_on is not None and not go_on():
            others.first(lambda at=step: _save(folder, at, student.module, optimizer, plan))
            return False
        said = _step(student, examples, plan, optimizer, step, np.array(rows), others)
        if heard:
            heard(said)
            student.module.train()
        if (step + 1) % plan.save_every == 0 or step + 1 == plan.steps:
            others.first(lambda at=step + 1: _save(folder, at, student.module, optimizer, plan))
    student.module.eval()
    return True


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


def _step(
    student: Student,
    examples: Examples,
    plan: Plan,
    optimizer: torch.optim.Optimizer,
    step: int,
    chosen: NDArray[np.int64],
    ranks: Ranks,
) -> Heard:
    for group in optimizer.param_groups:
        group["lr"] = plan.rate(step)
    optimizer.zero_grad(set_to_none=True)
    batch = batch_of(examples, chosen, negatives=plan.objective.needs_negatives)
    loss, found = backward(student, batch, plan, step, ranks)
    if not np.isfinite(loss):
        raise EvaluationError(f"the loss of step {step + 1} is {loss}; lower the learning rate")
    ranks.mean_gradients(student.module)
    optimizer.step()
    parts = {name: float(value.detach()) for name, value in found.values.items()}
    return Heard(step + 1, loss, {**parts, **found.divergences}, found.negatives)


def _save(folder: Path, step: int, module: nn.Module, optimizer: torch.optim.Optimizer, plan: Plan) -> None:
    work = folder / f".{LATEST}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, work / MODEL)
    moments = {
        f"{number}.{name}": value if isinstance(value, Tensor) else torch.tensor(value)
        for number, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, work / OPTIMIZER)
    (work / STATE).write_text(json.dumps({"step": step, "losses": LOSSES, "plan": _plan_of(plan)}), encoding="utf-8")
    old = folder / f".{LATEST}-before"
    shutil.rmtree(old, ignore_errors=True)
    if (folder / LATEST).exists():
        (folder / LATEST).rename(old)
    work.rename(folder / LATEST)
    shutil.rmtree(old, ignore_errors=True)


def _resume(checkpoint: Path, module: nn.Module, optimizer: torch.optim.Optimizer, plan: Plan) -> int:
    """Return the number of finished steps; 0 if nothing was saved yet."""
    before = checkpoint.with_name(f".{LATEST}-before")
    if not checkpoint.exists() and before.exists():
        before.rename(checkpoint)
    if not checkpoint.exists():
        return 0
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    if state.get("losses") != LOSSES:
        raise EvaluationError(
            f"{checkpoint}: was written by an earlier version, whose loss counts other negatives; start a new training"
        )
    if state["plan"] != _plan_of(plan):
        raise EvaluationError(
            f"{checkpoint}: belongs to another training; give a new folder, or the settings of that training"
        )
    module.load_state_dict(load_file(checkpoint / MODEL), strict=True)
    by_parameter: dict[int, dict[str, Any]] = {}
    for key, value in load_file(checkpoint / OPTIMIZER).items():
        number, _, name = key.partition(".")
        by_parameter.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": by_parameter})
    return int(state["step"])


def resumes_at(folder: Path) -> int:
    """Return the number of steps of the checkpoint in the folder; 0 if there is none."""
    for name in (LATEST, f".{LATEST}-before"):
        if (folder / name / STATE).is_file():
            return int(json.loads((folder / name / STATE).read_text(encoding="utf-8"))["step"])
    return 0


def _plan_of(plan: Plan) -> dict[str, Any]:
    return asdict(plan)
