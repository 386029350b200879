"""What a training takes; pages, actions and the command read it and import no model library."""

from collections.abc import Mapping
from typing import Any

from evaluation.teacher.plan import DIRECTIONS, FORWARD, Objective, Plan
from text.registry import Entry, Param

REFUSE, LEAVE_OUT = "refuse", "leave_out"

TEACHING = Entry(
    label="LLM-teacher",
    path="evaluation.teacher.teaching",
    summary=(
        "A dual encoder learns to tell its clips' captions from captions that generation runs made false of them "
        "(Feint6K, Sec. 4.2)."
    ),
    params=(
        Param("student", "", "a dual encoder: clip:HUB_ID?frames=8, xclip:HUB_ID, tiny:FOLDER"),
        Param(
            "teacher",
            "sentence-transformers/all-MiniLM-L6-v2",
            "the sentence encoder whose similarities lgt follows; not loaded without lgt",
        ),
        Param("contrastive", 1.0, "share of the plain loss over the batch", "float"),
        Param("lbl", 0.0, "share of (Feint6K, Eq. 1): changed captions are wrong (labels)", "float"),
        Param("lgt", 1.0, "share of (Feint6K, Eq. 2): changed captions as wrong as the teacher says (logits)", "float"),
        Param("temperature", 0.05, "of every softmax; the paper gives no value", "float"),
        Param("direction", FORWARD, "of the divergence (Feint6K, Eq. 2)", "choice", DIRECTIONS),
        Param("actions", 10, "captions with another action, for each caption", "int"),
        Param("objects", 0, "captions with another object, for each caption", "int"),
        Param("without_negatives", REFUSE, "captions of which the runs made nothing", "choice", (REFUSE, LEAVE_OUT)),
        Param("steps", 1000, "steps of the optimiser", "int"),
        Param("batch", 32, "clips a step", "int"),
        Param("accumulate", 1, "parts in which a step is done, where memory is short", "int"),
        Param("learning_rate", 1e-5, "the highest; up over the warm-up, then down by a cosine", "float"),
        Param("weight_decay", 0.05, "of AdamW", "float"),
        Param("warmup", 0.1, "share of the steps in which the rate rises", "float"),
        Param("bf16", False, "half-precision forward passes; weights and losses stay float32", "bool"),
        Param("save_every", 200, "steps between checkpoints; a killed worker loses at most so many", "int"),
        Param("curve_every", 50, "steps between points of the curve", "int"),
        Param("curve_items", 300, "items of the release that draw the RCAD curve", "int"),
        Param("processes", 1, "GPUs that train together, on this machine", "int"),
        Param("device", "auto", "auto, cpu, cuda or cuda:N"),
    ),
    deviations=(
        "The paper prints no temperature, learning rate, batch or number of steps for this objective: ours stand here.",
        (
            "The paper leaves open which of the two distributions the divergence is taken from (Feint6K, Eq. 2); by "
            "default the student learns the teacher's, as in distillation."
        ),
        (
            "The paper does not say whether its two objectives (Feint6K, Eqs. 1 and 2) replace the plain loss or are "
            "added to it; you can set shares of all three."
        ),
    ),
)


def plan_of(params: Mapping[str, Any], seed: int) -> Plan:
    """The plan of a training's parameters. EvaluationError: one that cannot be."""
    objective = Objective(
        params["temperature"],
        contrastive=params["contrastive"],
        lbl=params["lbl"],
        lgt=params["lgt"],
        direction=params["direction"],
    )
    names = ("steps", "batch", "accumulate", "learning_rate", "weight_decay", "warmup", "bf16", "save_every")
    return Plan(objective, seed=seed, **{name: params[name] for name in names})
