"""Plan a training: data, losses, duration and learning rate. Pure: pages check a plan without a model library."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.errors import EvaluationError
from text.quoting import quoted
from text.registry import Entry, Param

CONTRASTIVE, LABELS, LOGITS = "contrastive", "lbl", "lgt"
# The gradient of KL(teacher || student) pulls towards everything that the teacher finds close. The text of the paper
# does not state the direction, so the other one can be chosen.
FORWARD, REVERSE = "teacher||student", "student||teacher"
DIRECTIONS = (FORWARD, REVERSE)
# The paper's one temperature, or one each for the plain loss, the student and the teacher.
ONE, SEPARATE = "one", "separate"


@dataclass(frozen=True)
class Objective:
    """Weights of the three losses, the temperature of each softmax, the direction of the divergence (Feint6K, Eq. 2).

    The paper has one temperature for student and teacher, with no value: it must be given, and is recorded. An
    extension gives the plain loss and the teacher's side their own; None is `temperature`.
    """

    temperature: float
    contrastive: float = 0.0
    lbl: float = 0.0
    lgt: float = 0.0
    direction: str = FORWARD
    contrastive_temperature: float | None = None
    teacher_temperature: float | None = None

    def __post_init__(self) -> None:
        shares = (self.contrastive, self.lbl, self.lgt)
        for name in ("temperature", "contrastive_temperature", "teacher_temperature"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise EvaluationError(f"{name}: is {value}; give a number above 0, such as 0.05")
        if min(shares) < 0 or sum(shares) <= 0:
            raise EvaluationError("objective: its shares must be 0 or more, and one of them above 0")
        if self.direction not in DIRECTIONS:
            raise EvaluationError(f"direction: is {quoted(self.direction)}; choose one of: {', '.join(DIRECTIONS)}")

    @property
    def needs_negatives(self) -> bool:
        return self.lbl > 0 or self.lgt > 0

    @property
    def shares(self) -> dict[str, float]:
        return {CONTRASTIVE: self.contrastive, LABELS: self.lbl, LOGITS: self.lgt}

    @property
    def for_contrastive(self) -> float:
        return self.temperature if self.contrastive_temperature is None else self.contrastive_temperature

    @property
    def for_teacher(self) -> float:
        return self.temperature if self.teacher_temperature is None else self.teacher_temperature


@dataclass(frozen=True)
class Plan:
    """Duration and learning rate: `steps` optimiser steps of `batch` clips each, in `accumulate` parts; `warmup` the
    share of the steps in which the rate rises.
    """

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
            raise EvaluationError(
                "steps, batch, accumulate and save_every must be 1 or more, and accumulate must divide batch"
            )

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0: linear warm-up, then half a cosine to 0."""
        rising = max(1, round(self.warmup * self.steps))
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        done = (step - rising) / max(1, self.steps - rising)
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


REFUSE, LEAVE_OUT = "refuse", "leave_out"


TEACHING = Entry(
    label="LLM-teacher",
    path="evaluation.teacher.teaching",
    summary=(
        "A dual encoder learns to tell the captions of its clips from false captions made by generation runs (Feint6K, "
        "Sec. 4.2)."
    ),
    params=(
        Param("student", "", "a dual encoder: clip:HUB_ID?frames=8, video:HUB_ID, xclip:HUB_ID, tiny:FOLDER"),
        Param(
            "teacher",
            "sentence-transformers/all-MiniLM-L6-v2",
            "sentence encoder that gives the similarities for the logit loss; not loaded if Lgt is 0",
        ),
        Param("contrastive", 1.0, "share of the plain contrastive loss over the batch", "float"),
        Param("lbl", 0.0, "share of the label loss, which treats changed captions as wrong (Feint6K, Eq. 1)", "float"),
        Param("lgt", 1.0, "share of the logit loss, which follows the teacher (Feint6K, Eq. 2)", "float"),
        Param("temperature", 0.05, "temperature of every softmax; the paper gives no value", "float"),
        Param(
            "temperatures",
            ONE,
            "one: the paper's; separate: temperature is that of the student in lbl and lgt only",
            "choice",
            (ONE, SEPARATE),
        ),
        Param(
            "contrastive_temperature",
            0.0,
            "separate: temperature of the plain loss; 0 takes that of the student's checkpoint (its logit scale)",
            "float",
        ),
        Param("teacher_temperature", 0.0, "separate: temperature of the teacher; 0 takes the student's", "float"),
        Param("direction", FORWARD, "direction of the divergence (Feint6K, Eq. 2)", "choice", DIRECTIONS),
        Param("actions", 10, "negatives with a changed action, per caption", "int"),
        Param("objects", 0, "negatives with a changed object, per caption", "int"),
        Param("without_negatives", REFUSE, "captions without negatives from the runs", "choice", (REFUSE, LEAVE_OUT)),
        Param("steps", 1000, "optimiser steps", "int"),
        Param("batch", 32, "clips per step", "int"),
        Param("accumulate", 1, "parts that a step is split into, to save memory; each is encoded twice", "int"),
        Param(
            "learning_rate", 1e-5, "maximum learning rate; rises during the warm-up, then falls along a cosine", "float"
        ),
        Param("weight_decay", 0.05, "weight decay of AdamW", "float"),
        Param("warmup", 0.1, "share of the steps in which the learning rate rises", "float"),
        Param("bf16", False, "half-precision forward passes; weights and losses remain float32", "bool"),
        Param("save_every", 200, "steps between checkpoints; a killed worker loses at most that many", "int"),
        Param("curve_every", 50, "steps between points of the curve", "int"),
        Param("curve_items", 300, "items of the release used for the RCAD curve", "int"),
        Param("processes", 1, "number of GPUs of this machine that train together", "int"),
        Param("device", "auto", "auto, cpu, cuda or cuda:N"),
    ),
    deviations=(
        "The paper gives no temperature, learning rate, batch size or number of steps; these are our defaults.",
        (
            "The paper leaves open which of the two distributions the divergence is taken from (Feint6K, Eq. 2); by "
            "default the student learns the teacher's, as in distillation. Both directions are reported."
        ),
        (
            "The paper has one temperature (Feint6K, Eqs. 1 and 2). Separate ones for the plain loss, the student and "
            "the teacher are an extension."
        ),
        ("In the plain loss, captions of the same video do not count as negatives of each other."),
        (
            "The paper does not say whether its two objectives (Feint6K, Eqs. 1 and 2) replace the plain loss or are "
            "added to it; you can set shares of all three."
        ),
    ),
)


def plan_of(params: Mapping[str, Any], seed: int) -> Plan:
    """Return the plan of a training's parameters. EvaluationError: an impossible one."""
    own = {name: params.get(name, 0) for name in ("contrastive_temperature", "teacher_temperature")}
    if not _is_separate(params) and any(own.values()):
        raise EvaluationError(
            "contrastive_temperature and teacher_temperature have no effect with one temperature; set "
            "temperatures=separate"
        )
    objective = Objective(
        params["temperature"],
        contrastive=params["contrastive"],
        lbl=params["lbl"],
        lgt=params["lgt"],
        direction=params["direction"],
        **{name: value or None for name, value in own.items()},
    )
    names = ("steps", "batch", "accumulate", "learning_rate", "weight_decay", "warmup", "bf16", "save_every")
    return Plan(objective, seed=seed, **{name: params[name] for name in names})


def takes_logit_scale(params: Mapping[str, Any]) -> bool:
    """Return whether the plain loss has the temperature of the student's checkpoint."""
    return bool(_is_separate(params) and params["contrastive"] > 0 and not params["contrastive_temperature"])


def _is_separate(params: Mapping[str, Any]) -> bool:
    return bool(params.get("temperatures", ONE) == SEPARATE)
