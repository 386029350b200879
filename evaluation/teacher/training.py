"""Run the training loop: AdamW, warm-up and cosine, one video forward and one text forward per step, with checkpoints.

A killed run resumes from its checkpoint with an equal result. A checkpoint is a folder with safetensors and JSON, never
a pickle, and is replaced atomically.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from evaluation.errors import EvaluationError
from evaluation.teacher import objectives
from evaluation.teacher.examples import Batch, Examples, batch_of
from evaluation.teacher.plan import CONTRASTIVE, LABELS, LOGITS, OBJECTIVES, Objective, Plan
from evaluation.teacher.ranks import Alone, Ranks
from text.quoting import quoted

STATE, OPTIMIZER, MODEL = "state.json", "optimizer.safetensors", "model.safetensors"
LATEST = "checkpoint"


class Student(Protocol):
    """A dual encoder in training: its outputs have gradients."""

    @property
    def module(self) -> nn.Module:
        """Return what holds the weights; its state is the model's."""
        ...

    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        """Encode (b,) indices of clips into (b, …), a row per clip."""
        ...

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """Encode m texts into (m, d)."""
        ...

    def similar(self, videos: Tensor, texts: Tensor) -> Tensor:
        """Compute cosines in float32: texts (m, d) of all clips -> (b, m); texts (b, k, d), each clip's own ->
        (b, k)."""
        ...


@dataclass(frozen=True)
class Heard:
    """The report of a step: its number from 1, its loss and the parts of it."""

    step: int
    loss: float
    parts: dict[str, float]


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
    teacher's similarities; a checkpoint of another plan. `ranks`: several processes that share each step's clips; the
    gradients equal those of one process with correspondingly more `accumulate`.
    """
    check(examples, plan.objective)
    others: Ranks = ranks or Alone()
    if plan.batch % (plan.accumulate * others.size):
        raise EvaluationError(f"batch: is {plan.batch}; give a multiple of accumulate x processes ({others.size})")
    optimizer = torch.optim.AdamW(student.module.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay)
    first = _resume(folder / LATEST, student.module, optimizer, plan)
    student.module.train()
    for step, chosen in enumerate(_order(len(examples), plan), start=0):
        if step < first:
            continue
        if go_on is not None and not go_on():
            others.first(lambda at=step: _save(folder, at, student.module, optimizer, plan))
            return False
        torch.manual_seed(_seed_of_step(plan, step))
        said = _step(student, examples, plan, optimizer, step, chosen, others)
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


def _order(size: int, plan: Plan) -> Iterator[NDArray[np.int64]]:
    """Return the clips of every step: epoch after epoch in a random order, with batches across the end of an epoch."""
    draw = np.random.default_rng(plan.seed)
    waiting = np.empty(0, dtype=np.int64)
    for _ in range(plan.steps):
        while len(waiting) < plan.batch:
            waiting = np.concatenate([waiting, draw.permutation(size)])
        chosen, waiting = waiting[: plan.batch], waiting[plan.batch :]
        yield chosen


def _seed_of_step(plan: Plan, step: int) -> int:
    """Return a seed that does not depend on earlier steps, so that a resumed run draws the same dropout."""
    return int(np.random.SeedSequence([plan.seed, step]).generate_state(1)[0])


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
    total, parts = 0.0, dict.fromkeys(OBJECTIVES, 0.0)
    for piece in np.split(chosen, plan.accumulate * ranks.size)[ranks.rank :: ranks.size]:
        batch = batch_of(examples, piece, negatives=plan.objective.needs_negatives)
        losses = losses_of(student, batch, plan.objective, bf16=plan.bf16)
        shares = {name: getattr(plan.objective, name) for name in losses}
        loss = torch.stack([shares[name] * value for name, value in losses.items()]).sum() / plan.accumulate
        if not torch.isfinite(loss):
            raise EvaluationError(f"the loss of step {step + 1} is {float(loss.detach())}; lower the learning rate")
        loss.backward()
        total += float(loss.detach())
        for name, value in losses.items():
            parts[name] += float(value.detach()) / plan.accumulate
    ranks.mean_gradients(student.module)
    optimizer.step()
    total, *values = ranks.mean([total, *parts.values()])
    named = zip(parts, values, strict=True)
    return Heard(step + 1, total, {name: value for name, value in named if getattr(plan.objective, name) > 0})


def losses_of(student: Student, batch: Batch, objective: Objective, *, bf16: bool = False) -> dict[str, Tensor]:
    """Compute each loss of the objective by name, from one forward of the batch's clips and one of its distinct
    texts."""
    device = next(student.module.parameters()).device
    with torch.autocast(device.type, torch.bfloat16) if bf16 else nullcontext():
        videos, texts = student.encode_video(batch.clips), student.encode_text(batch.texts)
    own = torch.from_numpy(batch.captions).to(device)
    found: dict[str, Tensor] = {}
    if objective.contrastive > 0:
        distinct, same = torch.unique(own, return_inverse=True)
        every = student.similar(videos, texts[distinct])
        found[CONTRASTIVE] = objectives.contrastive(every, same, objective.temperature)
    if objective.needs_negatives:
        places = torch.from_numpy(np.column_stack([batch.captions, batch.negatives])).to(device)
        there = places >= 0
        similar = student.similar(videos, texts[places.clamp(min=0)])
        if objective.lbl > 0:
            found[LABELS] = objectives.labels(similar, there, objective.temperature)
        if objective.lgt > 0:
            cosines = np.column_stack([np.ones(len(batch.teacher), np.float32), np.nan_to_num(batch.teacher)])
            teacher = torch.from_numpy(cosines).to(device)
            found[LOGITS] = objectives.logits(similar, teacher, there, objective.temperature, objective.direction)
    return found


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
    (work / STATE).write_text(json.dumps({"step": step, "plan": _plan_of(plan)}), encoding="utf-8")
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
