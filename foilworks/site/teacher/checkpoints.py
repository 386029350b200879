"""Store and load what an unfinished training needs: weights, moments of the optimizer, step, results on held-out clips.

A checkpoint is a folder with safetensors and JSON, never a pickle, and is replaced atomically. It contains no states of
random numbers: order and dropout of a step are drawn from the seed and the step.
"""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from evaluation.errors import EvaluationError
from foilworks.site.teacher.plan import Plan
from foilworks.site.teacher.selection import Selection

STATE, OPTIMIZER, MODEL = "state.json", "optimizer.safetensors", "model.safetensors"
LATEST = "checkpoint"
# Counts up whenever the same plan gives another result.
LOSSES = 3


@dataclass(frozen=True)
class Trained:
    """Everything that changes in a training."""

    module: nn.Module
    optimizer: torch.optim.Optimizer
    plan: Plan
    selection: Selection | None


def save(folder: Path, step: int, trained: Trained) -> None:
    """Replace the checkpoint in `folder` by one after `step` steps."""
    work = folder / f".{LATEST}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    save_file({name: value.contiguous() for name, value in trained.module.state_dict().items()}, work / MODEL)
    moments = {
        f"{number}.{name}": value if isinstance(value, Tensor) else torch.tensor(value)
        for number, state in trained.optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, work / OPTIMIZER)
    state = {"step": step, "losses": LOSSES, "plan": asdict(trained.plan)}
    if trained.selection:
        state["points"] = trained.selection.plain()
    (work / STATE).write_text(json.dumps(state), encoding="utf-8")
    old = folder / f".{LATEST}-before"
    shutil.rmtree(old, ignore_errors=True)
    if (folder / LATEST).exists():
        (folder / LATEST).rename(old)
    work.rename(folder / LATEST)
    shutil.rmtree(old, ignore_errors=True)
    if trained.selection:
        trained.selection.prune()


def resume(folder: Path, trained: Trained) -> int:
    """Load the latest checkpoint; return the number of finished steps, 0 if nothing was saved yet.

    EvaluationError: a checkpoint of another plan or of an earlier version.
    """
    checkpoint, before = folder / LATEST, folder / f".{LATEST}-before"
    if not checkpoint.exists() and before.exists():
        before.rename(checkpoint)
    if not checkpoint.exists():
        return 0
    state = _state(checkpoint)
    if state.get("losses") != LOSSES:
        raise EvaluationError(
            f"{checkpoint}: was written by an earlier version, which trains differently; start a new training"
        )
    if state["plan"] != asdict(trained.plan) or ("points" in state) != (trained.selection is not None):
        raise EvaluationError(
            f"{checkpoint}: belongs to another training; give a new folder, or the settings of that training"
        )
    trained.module.load_state_dict(load_file(checkpoint / MODEL), strict=True)
    by_weight: dict[int, dict[str, Any]] = {}
    for key, value in load_file(checkpoint / OPTIMIZER).items():
        number, _, name = key.partition(".")
        by_weight.setdefault(int(number), {})[name] = value
    trained.optimizer.load_state_dict({**trained.optimizer.state_dict(), "state": by_weight})
    if trained.selection:
        trained.selection.resume(state["points"])
    return int(state["step"])


def resumes_at(folder: Path) -> int:
    """Return the number of steps of the checkpoint in the folder; 0 if there is none."""
    return int(_latest(folder).get("step", 0))


def stored_points(folder: Path) -> dict[int, dict[str, float]]:
    """Return the results on held-out clips that the checkpoint in the folder has; empty without a selection."""
    return {int(step): values for step, values in _latest(folder).get("points", [])}


def _latest(folder: Path) -> dict[str, Any]:
    for name in (LATEST, f".{LATEST}-before"):
        if (folder / name / STATE).is_file():
            return _state(folder / name)
    return {}


def _state(checkpoint: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return state
