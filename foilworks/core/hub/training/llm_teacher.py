"""Provide the training set and the losses of LLM-teacher (Feint6K, Sec. 4.2) to any PyTorch trainer.

Imports only torch and numpy, so that a copy of this file works in another program. `TeacherSet` reads
what `foilworks teacher export` writes; `losses` takes the vectors of any dual encoder. Every loss is a mean over the
batch and is computed in float32, whatever the number format of the model. Temperatures are above 0.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import Dataset

CONTRASTIVE, LABELS, LOGITS = "contrastive", "lbl", "lgt"
# The gradient of KL(teacher || student) pulls towards everything that the teacher finds close. The text of the paper
# does not state the direction, so the other one can be chosen, and both are reported.
FORWARD, REVERSE = "teacher||student", "student||teacher"
DIRECTIONS = (FORWARD, REVERSE)
# What a row of an exported set holds: a clip, its caption, false captions of it and the teacher's cosine of each.
CLIP, CAPTION, NEGATIVES, COSINES, SPLIT = "clip", "caption", "negatives", "teacher", "split"


@dataclass(frozen=True)
class Batch:
    """The b clips of a step and its m distinct texts.

    `captions` (b,) and `negatives` (b, k) are indices of `texts`, -1 for a missing negative. `teacher` (b, k) are the
    cosines of caption and negative. `true` (b, m): the text is a caption of the clip's video.
    """

    clips: Sequence[Any]
    texts: tuple[str, ...]
    captions: Tensor
    negatives: Tensor
    teacher: Tensor
    true: Tensor

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on the device."""
        names = ("captions", "negatives", "teacher", "true")
        return replace(self, **{name: getattr(self, name).to(device) for name in names})


class TeacherSet(Dataset[dict[str, Any]]):
    """The rows of one split of an exported set.

    ValueError: a line that is not a row of such a file, or a split without rows.
    """

    def __init__(self, path: str | PathLike[str], split: str = "train") -> None:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        found = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
        self.rows = [row for row in found if row[SPLIT] == split]
        if not self.rows:
            raise ValueError(f"{path}: has no row of the split {split!r}; export it, or name another split")
        self._true: dict[str, set[str]] = {}
        for row in self.rows:
            self._true.setdefault(row[CLIP], set()).add(row[CAPTION])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]

    def collate(self, rows: Sequence[Mapping[str, Any]]) -> Batch:
        """Return the batch of these rows; give it to a DataLoader as `collate_fn`."""
        # In the order of their first row: the same rows give the same batch on every machine.
        texts = tuple(dict.fromkeys(text for row in rows for text in (row[CAPTION], *row[NEGATIVES])))
        place = {text: at for at, text in enumerate(texts)}
        width = max(len(row[NEGATIVES]) for row in rows)
        made = [[place[text] for text in row[NEGATIVES]] for row in rows]
        told = [list(row[COSINES] or [float("nan")] * len(row[NEGATIVES])) for row in rows]
        return Batch(
            clips=list(rows),
            texts=texts,
            captions=torch.tensor([place[row[CAPTION]] for row in rows]),
            negatives=torch.tensor([each + [-1] * (width - len(each)) for each in made], dtype=torch.int64),
            teacher=torch.tensor([each + [float("nan")] * (width - len(each)) for each in told], dtype=torch.float32),
            true=torch.tensor([[text in self._true[row[CLIP]] for text in texts] for row in rows]),
        )


def _row(path: str | PathLike[str], number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
        missing = [name for name in (CLIP, CAPTION, NEGATIVES, COSINES, SPLIT) if name not in row]
    except (ValueError, TypeError):
        missing = ["JSON"]
    if missing:
        raise ValueError(f"{path}: line {number}: has no {missing[0]}; export the set again")
    return row  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Temperatures:
    """The temperature of each softmax: the plain loss, the student's and the teacher's in the other two.

    A tensor is a temperature that is learned.
    """

    contrastive: float | Tensor
    student: float
    teacher: float

    @classmethod
    def one(cls, value: float) -> "Temperatures":
        """Return the paper's mode: one temperature for everything."""
        return cls(value, value, value)


@dataclass(frozen=True)
class Losses:
    """What a step has: each loss by name, both divergences, and the mean number of negatives of a clip."""

    values: dict[str, Tensor]
    divergences: dict[str, float]
    negatives: dict[str, float]

    def weighted(self, shares: Mapping[str, float]) -> Tensor:
        """Return the sum of the losses, each times its share."""
        return torch.stack([shares[name] * value for name, value in self.values.items()]).sum()


def cosines(videos: Tensor, texts: Tensor) -> Tensor:
    """Return cosines in float32: texts (m, d) of all clips -> (b, m); texts (b, k, d), each clip's own -> (b, k)."""
    videos, texts = F.normalize(videos.float(), dim=-1), F.normalize(texts.float(), dim=-1)
    return videos @ texts.T if texts.ndim == 2 else torch.einsum("bd,bkd->bk", videos, texts)


def losses(
    videos: Tensor,
    texts: Tensor,
    batch: Batch,
    shares: Mapping[str, float],
    temperatures: Temperatures,
    *,
    direction: str = FORWARD,
    similar: Callable[[Tensor, Tensor], Tensor] = cosines,
) -> Losses:
    """Compute the losses whose share is above 0, from a vector per clip (b, …) and one per distinct text (m, d).

    `similar` computes the similarities like `cosines`, for models whose similarity is another one.
    """
    batch = batch.to(videos.device)
    values: dict[str, Tensor] = {}
    divergences: dict[str, float] = {}
    counts: dict[str, float] = {}
    if shares.get(CONTRASTIVE, 0) > 0:
        distinct, same = torch.unique(batch.captions, return_inverse=True)
        excluded = batch.true[:, distinct]
        values[CONTRASTIVE] = contrastive(
            similar(videos, texts[distinct]), same, temperatures.contrastive, excluded=excluded
        )
        own = F.one_hot(same, len(distinct)).bool()
        counts[CONTRASTIVE] = float((~(excluded | own)).sum(dim=1).float().mean())
    if shares.get(LABELS, 0) > 0 or shares.get(LOGITS, 0) > 0:
        places = torch.column_stack([batch.captions, batch.negatives])
        there = places >= 0
        found = similar(videos, texts[places.clamp(min=0)])
        counts["changed"] = float((there.sum(dim=1) - 1).float().mean())
        if shares.get(LABELS, 0) > 0:
            values[LABELS] = labels(found, there, temperatures.student)
        if shares.get(LOGITS, 0) > 0:
            first = torch.ones_like(batch.teacher[:, :1])
            teacher = torch.cat([first, batch.teacher.nan_to_num()], dim=1)
            both = {each: logits(found, teacher, there, temperatures, each) for each in DIRECTIONS}
            values[LOGITS] = both[direction]
            divergences = {each: float(value.detach()) for each, value in both.items()}
    return Losses(values, divergences, counts)


def contrastive(
    similar: Tensor, same: Tensor, temperature: float | Tensor, *, excluded: Tensor | None = None
) -> Tensor:
    """Compute the plain loss, clip to caption and caption to clip, over the batch.

    `similar` (b, m) of each video with each of the batch's distinct captions; `same` (b,) which caption is each video's
    own. Videos that share a caption are its right answers in equal parts. `excluded` (b, m): other captions of the
    same video, which do not count in either direction.
    """
    scaled = similar.float() / temperature
    right = F.one_hot(same, similar.shape[1]).bool()
    if excluded is not None:
        scaled = scaled.masked_fill(excluded & ~right, float("-inf"))
    by_video = F.cross_entropy(scaled, same)
    asked = right.any(dim=0)
    wanted = right.T[asked]
    # Where nothing is wanted the log may be -inf, and 0 * -inf is nan.
    logs = torch.where(wanted, scaled.T[asked].log_softmax(dim=1), 0.0)
    by_text = -(logs.sum(dim=1) / wanted.sum(dim=1)).mean()
    return (by_video + by_text) / 2


def labels(student: Tensor, there: Tensor, temperature: float) -> Tensor:
    """Compute `- log softmax` of the positive (Feint6K, Eq. 1).

    `student` (b, 1 + k): sim(f_v, f_t), the positive first; `there` (b, 1 + k): False if a video has fewer than k
    negatives.
    """
    return -_log_softmax(student, there, temperature)[:, 0].mean()


def logits(
    student: Tensor, teacher: Tensor, there: Tensor, temperatures: Temperatures, direction: str = FORWARD
) -> Tensor:
    """Compute the divergence between the student's softmax and the teacher's (Feint6K, Eq. 2).

    `teacher` (b, 1 + k): sim(e_p, e_t), the positive first (so 1), over the positive and its own negatives only.
    """
    ours = _log_softmax(student, there, temperatures.student)
    theirs = _log_softmax(teacher, there, temperatures.teacher)
    left, right = (theirs, ours) if direction == FORWARD else (ours, theirs)
    # For missing negatives, both logs are -inf; their difference and its gradient would be nan, so they are set before.
    gap = torch.where(there, left, 0.0) - torch.where(there, right, 0.0)
    return (torch.where(there, left.exp(), 0.0) * gap).sum(dim=1).mean()


def _log_softmax(similarities: Tensor, there: Tensor, temperature: float) -> Tensor:
    scaled = (similarities.float() / temperature).masked_fill(~there, float("-inf"))
    return scaled.log_softmax(dim=1)


def order(size: int, batch: int, steps: int, seed: int) -> Iterator[list[int]]:
    """Yield the rows of every step: epoch after epoch in a random order, with batches across the end of an epoch."""
    draw = np.random.default_rng(seed)
    waiting: list[int] = []
    for _ in range(steps):
        while len(waiting) < batch:
            waiting += draw.permutation(size).tolist()
        chosen, waiting = waiting[:batch], waiting[batch:]
        yield chosen
