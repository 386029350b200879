"""Compute the losses of one step over all its clips, in parts and processes that each hold the graph of a few.

Gradient caching: every part is encoded without a graph, the losses of the whole step give a gradient
for each vector, and each part is encoded again to pass its gradients on. All processes gather all vectors and compute
the same losses, so neither parts nor processes take negatives away.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from foilworks.core.hub.training.llm_teacher import Batch, Losses, Temperatures, losses
from foilworks.site.teacher.plan import Objective, Plan
from foilworks.site.teacher.ranks import Ranks


class Student(Protocol):
    """A dual encoder in training: its outputs have gradients.

    `heads`: the names of layers that were added to pretrained encoders. `read` returns the frames of a clip; None for
    a student without frames.
    """

    heads: Sequence[str]
    read: Callable[[int], Any] | None

    @property
    def scale_weight(self) -> Tensor | None:
        """Return the weight of the logit scale; None without one."""
        ...

    def temperature(self) -> Tensor:
        """Return the inverse of the logit scale, with its gradient."""
        ...

    def limit_scale(self) -> None:
        """Reduce the logit scale to its maximum after an update."""
        ...

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


def losses_of(
    student: Student,
    batch: Batch,
    objective: Objective,
    videos: Tensor,
    texts: Tensor,
    *,
    learns_scale: bool = False,
) -> Losses:
    """Compute the losses of the objective from the vectors of the batch's clips and texts.

    `learns_scale`: the plain loss has the temperature of the student's weights, with its gradient.
    """
    plain = student.temperature() if learns_scale else objective.for_contrastive
    return losses(
        videos,
        texts,
        batch,
        objective.shares,
        Temperatures(plain, objective.temperature, objective.for_teacher),
        direction=objective.direction,
        similar=student.similar,
    )


def backward(student: Student, batch: Batch, plan: Plan, step: int, ranks: Ranks) -> tuple[float, Losses]:
    """Add the step's gradients to the weights of this process; their mean over the processes is the step's.

    Returns the weighted loss of the whole step, and its parts.
    """
    videos = _Side(student.encode_video, np.asarray(batch.clips), plan, (step, 0), ranks)
    # A process without texts would not know the size of a vector.
    names = [*batch.texts, *batch.texts[-1:] * (ranks.size - len(batch.texts))]
    texts = _Side(student.encode_text, names, plan, (step, 1), ranks)
    device = next(student.module.parameters()).device
    gathered = [side.encode(device).requires_grad_() for side in (videos, texts)]
    own = gathered[1][: len(batch.texts)]
    losses = losses_of(student, batch, plan.objective, gathered[0], own, learns_scale=plan.scale_rate > 0)
    loss = losses.weighted(plan.objective.shares)
    if torch.isfinite(loss):
        loss.backward()
        for side, vectors in zip((videos, texts), gathered, strict=True):
            assert vectors.grad is not None
            # Each process adds the gradients of its own rows; the mean over the processes divides their sum.
            side.backward(vectors.grad * ranks.size)
    return float(loss.detach()), losses


def own_rows(count: int, ranks: Ranks) -> slice:
    """Return which of a step's `count` rows this process encodes."""
    ends = _ends(count, ranks)
    return slice(ends[ranks.rank], ends[ranks.rank + 1])


def _ends(count: int, ranks: Ranks) -> list[int]:
    return [0, *np.cumsum([len(share) for share in np.array_split(np.arange(count), ranks.size)]).tolist()]


class _Side:
    """The clips or the texts of a step: this process's share of them, in parts."""

    def __init__(
        self, encode: Callable[[Any], Tensor], rows: Any, plan: Plan, seed_path: tuple[int, int], ranks: Ranks
    ) -> None:
        self._encode, self._rows, self._plan, self._seed_path, self._ranks = encode, rows, plan, seed_path, ranks
        self._sizes = np.diff(_ends(len(rows), ranks)).tolist()
        own = own_rows(len(rows), ranks)
        self._first, self._last = own.start, own.stop
        count = min(plan.accumulate, self._last - self._first)
        self._chunks = np.array_split(np.arange(self._first, self._last), count)
        self._vectors: Tensor | None = None

    def encode(self, device: torch.device) -> Tensor:
        """Return the vectors of all rows of all processes, in float32 without a graph."""
        if len(self._chunks) == 1:
            self._vectors = self._forward(0, device)
            own = self._vectors.detach()
        else:
            with torch.no_grad():
                own = torch.cat([self._forward(number, device) for number in range(len(self._chunks))])
        self._device = device
        return self._ranks.gather(own, self._sizes)

    def backward(self, gradients: Tensor) -> None:
        """Pass the gradients of the vectors on to the weights, one part after the other."""
        for number, chunk in enumerate(self._chunks):
            vectors = self._vectors if self._vectors is not None else self._forward(number, self._device)
            vectors.backward(gradients[chunk])

    def _forward(self, number: int, device: torch.device) -> Tensor:
        chunk = self._chunks[number]
        # The same dropout in both passes of a part, and in a training that goes on after a kill.
        torch.manual_seed(_seed(self._plan.seed, *self._seed_path, int(chunk[0])))
        rows = self._rows[chunk] if isinstance(self._rows, np.ndarray) else [self._rows[at] for at in chunk]
        with torch.autocast(device.type, torch.bfloat16) if self._plan.bf16 else nullcontext():
            return self._encode(rows).float()


def _seed(*seed_path: int) -> int:
    return int(np.random.SeedSequence(seed_path).generate_state(1)[0])
