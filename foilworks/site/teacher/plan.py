"""Plan a training: data, losses, duration and learning rate. Pure: pages check a plan without a model library."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, Param

CONTRASTIVE, LABELS, LOGITS = "contrastive", "lbl", "lgt"
# The gradient of KL(teacher || student) pulls towards everything that the teacher finds close. The text of the paper
# does not state the direction, so the other one can be chosen.
FORWARD, REVERSE = "teacher||student", "student||teacher"
DIRECTIONS = (FORWARD, REVERSE)
# The paper's one temperature, or one each for the plain loss, the student and the teacher.
ONE, SEPARATE = "one", "separate"
# Learning rates: one for all weights, one per group, or those of CLIP4Clip (its published commands: 1e-7 for CLIP's
# weights, the logit scale among them, and 1e-4 for layers added to it).
GROUPS, CLIP4CLIP = "groups", "clip4clip"
CLIP4CLIP_RATES = (1e-7, 1e-4, 1e-7)
# The data that chooses the model: a share of the videos of the learned split, the validation split, or none.
HELD_OUT, VAL, LAST_STEP = "held_out", "val", "last_step"


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
    """Duration and learning rates: `steps` optimiser steps of `batch` clips each, in `accumulate` parts; `warmup` the
    share of the steps in which the rates rise.

    `learning_rate` is that of the encoders; `head_rate` that of layers added to them, None for the same; `scale_rate`
    that of the logit scale, 0 for a fixed one. `max_norm` limits the norm of all gradients, 0 for no limit. `prefetch`:
    steps whose frames are read ahead. `patience`: points without improvement before the training stops, 0 for never.
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
    head_rate: float | None = None
    scale_rate: float = 0.0
    max_norm: float = 1.0
    prefetch: int = 0
    patience: int = 0

    def __post_init__(self) -> None:
        if min(self.steps, self.batch, self.accumulate, self.save_every) < 1 or self.batch % self.accumulate:
            raise EvaluationError(
                "steps, batch, accumulate and save_every must be 1 or more, and accumulate must divide batch"
            )
        if min(self.max_norm, self.prefetch, self.patience) < 0:
            raise EvaluationError("max_norm, prefetch and patience must be 0 or more")

    def share(self, step: int) -> float:
        """Return a step's share of the maximum rates, counted from 0: linear warm-up, then half a cosine to 0."""
        rising = max(1, round(self.warmup * self.steps))
        if step < rising:
            return (step + 1) / rising
        done = (step - rising) / max(1, self.steps - rising)
        return 0.5 * (1 + math.cos(math.pi * done))


REFUSE, LEAVE_OUT = "refuse", "leave_out"


TEACHING = Entry(
    label="LLM-teacher",
    summary=(
        "A dual encoder learns to tell the captions of its clips from false captions made by generation runs (Feint6K, "
        "Sec. 4.2)."
    ),
    params=(
        Param("student", "", "a dual encoder: clip:HUB_ID?frames=8, video:HUB_ID, xclip:HUB_ID, tiny:FOLDER"),
        Param(
            "teacher",
            "sentence-transformers/all-MiniLM-L6-v2",
            "sentence encoder that gives the similarities for the logit loss; not loaded if lgt is 0",
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
        Param(
            "rates",
            ONE,
            "one: learning_rate for all weights; groups: also head_rate and scale_rate; clip4clip: 1e-7 for encoders "
            "and logit scale, 1e-4 for added layers",
            "choice",
            (ONE, GROUPS, CLIP4CLIP),
        ),
        Param("head_rate", 0.0, "groups: rate of layers added to the encoders; 0 takes learning_rate", "float"),
        Param(
            "scale_rate",
            0.0,
            "groups: rate of the logit scale; 0 leaves it fixed. Needs the checkpoint's own contrastive_temperature",
            "float",
        ),
        Param("weight_decay", 0.05, "weight decay of AdamW; biases, norms and the logit scale have none", "float"),
        Param("warmup", 0.1, "share of the steps in which the learning rate rises", "float"),
        Param("max_norm", 1.0, "maximum norm of the gradients of a step; 0 does not clip them", "float"),
        Param(
            "select_on",
            HELD_OUT,
            "data that chooses the model: held_out: a share of the train videos, which is not learned; val: the "
            "validation split; last_step: no selection",
            "choice",
            (HELD_OUT, VAL, LAST_STEP),
        ),
        Param("held_out", 0.1, "held_out: share of the source videos that choose the model", "float"),
        Param("patience", 0, "points of the curve without improvement before the training stops; 0: never", "int"),
        Param("bf16", False, "half-precision forward passes; weights and losses remain float32", "bool"),
        Param("checkpointing", False, "gradient checkpointing: less memory, about a third more time", "bool"),
        Param("prefetch", 2, "steps whose frames are read in the background; 0 reads them in the step", "int"),
        Param("save_every", 200, "steps between checkpoints; a killed worker loses at most that many", "int"),
        Param("curve_every", 50, "steps between points of the curve, at which the model is also chosen", "int"),
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
        (
            "The paper describes no selection of the model, clipping or rates per group. To train without them, set "
            "select_on=last_step, max_norm=0 and rates=one."
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
    names = ("steps", "batch", "accumulate", "weight_decay", "warmup", "bf16", "save_every")
    later = ("max_norm", "prefetch", "patience")
    towers, heads, scale = _rates_of(params)
    return Plan(
        objective,
        seed=seed,
        learning_rate=towers,
        head_rate=heads,
        scale_rate=scale,
        **{name: params[name] for name in names},
        **{name: params[name] for name in later if name in params},
    )


def _rates_of(params: Mapping[str, Any]) -> tuple[float, float | None, float]:
    """Return the rates of encoders, added layers and logit scale. EvaluationError: a rate that has no effect."""
    own = {name: params.get(name, 0.0) for name in ("head_rate", "scale_rate")}
    rates = params.get("rates", ONE)
    if rates != GROUPS and any(own.values()):
        raise EvaluationError(f"head_rate and scale_rate have no effect with rates={rates}; set rates=groups")
    if own["scale_rate"] and not takes_logit_scale(params):
        raise EvaluationError(
            "scale_rate has no effect, because no loss uses the logit scale; set temperatures=separate and "
            "contrastive_temperature=0"
        )
    if rates == CLIP4CLIP:
        towers, heads, scale = CLIP4CLIP_RATES
        return towers, heads, scale if takes_logit_scale(params) else 0.0
    return params["learning_rate"], own["head_rate"] or None, own["scale_rate"]


def selected_on(params: Mapping[str, Any]) -> str:
    """Return the data that chooses the model; trainings of earlier versions had none."""
    return str(params.get("select_on", LAST_STEP))


def takes_logit_scale(params: Mapping[str, Any]) -> bool:
    """Return whether the plain loss has the temperature of the student's checkpoint."""
    return bool(_is_separate(params) and params["contrastive"] > 0 and not params["contrastive_temperature"])


def _is_separate(params: Mapping[str, Any]) -> bool:
    return bool(params.get("temperatures", ONE) == SEPARATE)
