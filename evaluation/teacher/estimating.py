"""Estimate time and memory of a training by two real steps, which leave the weights as they are."""

import resource
import sys
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
import torch

from evaluation.teacher.examples import Examples, batch_of
from evaluation.teacher.plan import Plan
from evaluation.teacher.ranks import Alone
from evaluation.teacher.steps import Student, backward
from hub.training.llm_teacher import order

MEASURED = 2
# AdamW keeps two numbers in float32 per weight.
BYTES_PER_WEIGHT = 8


def estimate(student: Student, examples: Examples, plan: Plan, processes: int = 1) -> dict[str, Any]:
    """Return `step_s`, `steps`, `seconds` of all steps, `memory` in bytes, and the `device`.

    The first of the two steps loads kernels and is not counted. Reading the frames of a step is, as nothing is read
    ahead. `memory` is the peak of the process, or of the GPU, with the state of the optimizer. If there are several
    `processes`, one process's share of a step is measured. Evaluations and the teacher are not included.
    """
    own = replace(plan, batch=max(plan.accumulate, plan.batch // processes))
    device = next(student.module.parameters()).device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    student.module.train()
    seconds = 0.0
    for step, rows in enumerate(islice(order(len(examples), own.batch, own.steps, own.seed), MEASURED)):
        seconds = _measured(student, examples, own, step, np.array(rows), device)
    student.module.zero_grad(set_to_none=True)
    student.module.eval()
    state = sum(weight.numel() for weight in student.module.parameters() if weight.requires_grad) * BYTES_PER_WEIGHT
    memory = _peak(device) + state
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return {
        "step_s": seconds,
        "steps": plan.steps,
        "seconds": seconds * plan.steps,
        "memory": memory,
        "device": str(device),
    }


def _measured(
    student: Student, examples: Examples, plan: Plan, step: int, rows: np.ndarray, device: torch.device
) -> float:
    student.module.zero_grad(set_to_none=True)
    began = perf_counter()
    backward(student, batch_of(examples, rows, negatives=plan.objective.needs_negatives), plan, step, Alone())
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter() - began


def _peak(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    # macOS reports bytes, Linux kibibytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
