"""What a training minimises, how long and how fast. Pure: pages and actions check a plan without a model library."""

import math
from dataclasses import dataclass

from evaluation.errors import EvaluationError

CONTRASTIVE, LABELS, LOGITS = "contrastive", "lbl", "lgt"
OBJECTIVES = (CONTRASTIVE, LABELS, LOGITS)
# Of KL(teacher || student) the gradient pulls towards everything that the teacher finds close; the paper's text leaves
# the direction open, so the other one can be chosen.
FORWARD, REVERSE = "teacher||student", "student||teacher"
DIRECTIONS = (FORWARD, REVERSE)


@dataclass(frozen=True)
class Objective:
    """Shares of the three losses, the temperature of each softmax, the direction of the divergence (Feint6K, Eq. 2).

    The paper has one temperature for student and teacher, with no value: it must be given, and is recorded.
    """

    temperature: float
    contrastive: float = 0.0
    lbl: float = 0.0
    lgt: float = 0.0
    direction: str = FORWARD

    def __post_init__(self) -> None:
        shares = (self.contrastive, self.lbl, self.lgt)
        if not 0 < self.temperature < float("inf"):
            raise EvaluationError(f"temperature: is {self.temperature}; give a number above 0, such as 0.05")
        if min(shares) < 0 or sum(shares) <= 0:
            raise EvaluationError("objective: its shares must be 0 or more, and one of them above 0")
        if self.direction not in DIRECTIONS:
            raise EvaluationError(f"direction: is '{self.direction}'; choose one of: {', '.join(DIRECTIONS)}")

    @property
    def needs_negatives(self) -> bool:
        return self.lbl > 0 or self.lgt > 0


@dataclass(frozen=True)
class Plan:
    """How long and how fast. `steps` optimiser steps of `batch` clips each, in `accumulate` parts; `warmup` the share
    of the steps in which the rate rises."""

    objective: Objective
    steps: int
    batch: int = 32
    accumulate: int = 1
    learning_rate: float = 1e-5
    weight_decay: float = 0.05
    warmup: float = 0.1
    seed: int = 0
    save_every: int = 200
    bf16: bool = False

    def __post_init__(self) -> None:
        if min(self.steps, self.batch, self.accumulate, self.save_every) < 1 or self.batch % self.accumulate:
            raise EvaluationError("steps, batch, accumulate and save_every are 1 or more, and accumulate divides batch")

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0: linear warm-up, then half a cosine to 0."""
        rising = max(1, round(self.warmup * self.steps))
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        done = (step - rising) / max(1, self.steps - rising)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
