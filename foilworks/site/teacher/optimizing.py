"""Build the optimizer of a training: learning rates and weight decay per group of weights, and clipping.

Weight decay applies to matrices only. Biases, weights of norms and the logit scale have one dimension or none, and
shrinking them does not regularize a model (as in open_clip and CLIP4Clip).
"""

from typing import Any

import torch
from torch import Tensor, nn

from evaluation.errors import EvaluationError
from foilworks.site.teacher.plan import Plan
from foilworks.site.teacher.step_losses import Student

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
