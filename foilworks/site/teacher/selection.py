"""Choose the model of a training by its results on held-out clips, and stop when these do not improve.

The weights of the best point are a file beside the checkpoint, which stores the results of all points. So a killed
training chooses the same model as an uninterrupted one. Pure: what is measured comes from a callable.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import nn

from evaluation.errors import EvaluationError

BEST = "best-{step}.safetensors"
Values = Mapping[str, float]


class Selection:
    """`measure` returns the results of the current weights, the first by which models are chosen, the others for ties.
    Higher values are better. Of equal points the last is chosen, because a result at its limit says nothing about them.

    `every`: steps between two points. `patience`: points without improvement until `is_over`; 0 for never. `n`: the
    independent cases behind a share. Points within one standard error of the best count as equal to it (Breiman et al.
    1984), because few cases choose among many points with much noise; 0 for no such rule.
    """

    def __init__(
        self, folder: Path, measure: Callable[[], Values], *, every: int, patience: int = 0, n: int = 0
    ) -> None:
        self.folder, self.every, self.patience, self.n = folder, every, patience, n
        self._measure = measure
        self.points: dict[int, dict[str, float]] = {}

    def is_due(self, step: int, steps: int) -> bool:
        return step % self.every == 0 or step == steps

    @property
    def highest(self) -> int | None:
        """Return the step of the highest point so far; None before the first."""
        return max(self.points, key=lambda step: (*self.points[step].values(), step), default=None)

    @property
    def best(self) -> int | None:
        """Return the step whose model is chosen so far; None before the first. It is the newest, or as before."""
        if self.highest is None:
            return None
        top, *_others = self.points[self.highest].values()
        error = math.sqrt(max(0.0, top * (1 - top)) / self.n) if self.n else 0.0
        if not error:
            return self.highest
        return max(step for step, (value, *_) in self._values() if value >= top - error)

    @property
    def is_over(self) -> bool:
        if not self.patience or self.highest is None:
            return False
        values = list(self.points.values())
        return len(values) - 1 - values.index(self.points[self.highest]) >= self.patience

    def _values(self) -> list[tuple[int, list[float]]]:
        return [(step, list(values.values())) for step, values in self.points.items()]

    def look(self, step: int, module: nn.Module) -> None:
        """Measure the weights after `step`; store them if they are the best."""
        module.eval()
        self.points[step] = dict(self._measure())
        if self.best == step:
            self.folder.mkdir(parents=True, exist_ok=True)
            weights = {name: value.contiguous() for name, value in module.state_dict().items()}
            hidden = self._file(step).with_suffix(".new")
            save_file(weights, hidden)
            hidden.replace(self._file(step))

    def restore(self, module: nn.Module) -> None:
        """Load the weights of the best point. EvaluationError: their file is missing."""
        if self.best is None:
            return
        path = self._file(self.best)
        if not path.is_file():
            raise EvaluationError(f"{path}: not found; start a new training")
        module.load_state_dict(load_file(path), strict=True)

    def prune(self) -> None:
        """Remove the weights of earlier best points; call it when a checkpoint stores the points."""
        for path in self.folder.glob(BEST.format(step="*")):
            if self.best is None or path != self._file(self.best):
                path.unlink()

    def plain(self) -> list[list[Any]]:
        """Return the points as JSON."""
        return [[step, values] for step, values in self.points.items()]

    def resume(self, stored: list[list[Any]]) -> None:
        """Continue after these points."""
        self.points = {int(step): dict(values) for step, values in stored}

    def _file(self, step: int) -> Path:
        return self.folder / BEST.format(step=step)
