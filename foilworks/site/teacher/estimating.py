"""Estimate time and memory of a training by two real steps, which leave the weights as they are."""

import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from foilworks.core.hub.training.llm_teacher import order
from foilworks.site.teacher.examples import Examples, batch_of
from foilworks.site.teacher.footage import KEPT_BYTES
from foilworks.site.teacher.plan import Plan
from foilworks.site.teacher.ranks import Alone
from foilworks.site.teacher.step_losses import Student, backward

MEASURED = 2
# AdamW keeps two numbers in float32 per weight.
BYTES_PER_WEIGHT = 8


def estimate(student: Student, examples: Examples, plan: Plan, processes: int = 1) -> dict[str, Any]:
    """Return `step_s` and `read_s` (frames of a step), `steps`, `seconds` of all steps, `memory` in bytes, `device`.

    The first of the two steps loads kernels and is not counted. Frames that fit in memory are read once, others in each
    step; reading ahead hides this behind the steps. `memory` is the peak of the process, or of the GPU, with the state
    of the optimizer. If there are several `processes`, one process's share of a step is measured. Evaluations and the
    teacher are not included.
    """
    own = replace(plan, batch=max(plan.accumulate, plan.batch // processes))
    device = next(student.module.parameters()).device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    student.module.train()
    seconds, reading = 0.0, Reading(0.0, 0)
    for step, rows in enumerate(islice(order(len(examples), own.batch, own.steps, own.seed), MEASURED)):
        reading = _read(student, rows)
        seconds = _step(student, examples, own, step, np.array(rows), device)
    student.module.zero_grad(set_to_none=True)
    student.module.eval()
    state = sum(weight.numel() for weight in student.module.parameters() if weight.requires_grad) * BYTES_PER_WEIGHT
    memory = _peak(device) + state
    if device.type == "cuda":
        torch.cuda.empty_cache()
    computing, all_reading = seconds * plan.steps, reading.total(len(examples), own.batch, plan.steps)
    return {
        "step_s": seconds,
        "read_s": reading.seconds * own.batch,
        "steps": plan.steps,
        "seconds": max(computing, all_reading) if plan.prefetch else computing + all_reading,
        "memory": memory,
        "device": str(device),
    }


@dataclass(frozen=True)
class Reading:
    """Seconds and bytes per clip."""

    seconds: float
    size: int

    def total(self, clips: int, batch: int, steps: int) -> float:
        """Return the seconds to read the frames of all steps."""
        fits = clips * self.size <= KEPT_BYTES
        return self.seconds * (min(clips, batch * steps) if fits else batch * steps)


def _read(student: Student, rows: Sequence[int]) -> Reading:
    if student.read is None:
        return Reading(0.0, 0)
    began = perf_counter()
    sizes = [student.read(row)[0].nbytes for row in rows]
    return Reading((perf_counter() - began) / len(rows), max(sizes))


def _step(
    student: Student, examples: Examples, plan: Plan, step: int, rows: NDArray[np.int64], device: torch.device
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
