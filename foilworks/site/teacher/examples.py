"""Hold the training data: clips, captions, false captions, and their similarity according to the teacher.

Texts are referenced by index in one list, so that a step encodes each distinct text once however often it occurs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from foilworks.core.hub.training.llm_teacher import Batch
from foilworks.core.text.quoting import quoted


@dataclass(frozen=True)
class Examples:
    """n clips: `texts` every distinct text; `captions` (n,) indices of the positives; `negatives` (n, k) indices, -1
    for missing ones; `teacher` (n, k) cosines sim(e_p, e_t), nan without a negative; `videos` (n,) which of them show
    the same video.
    """

    texts: tuple[str, ...]
    captions: NDArray[np.int64]
    negatives: NDArray[np.int64]
    teacher: NDArray[np.float32]
    videos: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.captions)

    def true(self, place: int) -> NDArray[np.int64]:
        """Return the texts that are captions of the video at this index."""
        return self.captions[self._rows[int(self.videos[place])]]

    @cached_property
    def _rows(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row, video in enumerate(self.videos.tolist()):
            found.setdefault(video, []).append(row)
        return found

    @property
    def with_negatives(self) -> NDArray[np.bool_]:
        """Return whether each clip has any negative, (n,)."""
        return np.asarray((self.negatives >= 0).any(axis=1))


def examples_of(
    captions: Sequence[str],
    negatives: Sequence[Sequence[str]],
    teacher: Sequence[Sequence[float]] | None = None,
    videos: Sequence[int] | None = None,
) -> Examples:
    """Build examples from texts: `negatives[i]` come from `captions[i]`; `teacher[i]` are their cosines to it;
    `videos[i]` names the video, without it each caption has its own.

    EvaluationError: no captions, a negative that equals its caption, a cosine outside of -1 to 1.
    """
    if not captions:
        raise EvaluationError("the train split has no captions; import some with split=train")
    places: dict[str, int] = {}
    width = max(map(len, negatives), default=0)
    table = np.full((len(captions), width), -1, dtype=np.int64)
    cosines = np.full((len(captions), width), np.nan, dtype=np.float32)
    own = np.array([places.setdefault(text, len(places)) for text in captions], dtype=np.int64)
    for row, (caption, made) in enumerate(zip(captions, negatives, strict=True)):
        if caption in made:
            raise EvaluationError(f"{quoted(caption)}: a negative is equal to its caption; run the filter `identical`")
        for column, text in enumerate(made):
            table[row, column] = places.setdefault(text, len(places))
            if teacher is not None:
                cosines[row, column] = _cosine(caption, teacher[row][column])
    seen = np.arange(len(captions)) if videos is None else np.array(videos, dtype=np.int64)
    return Examples(tuple(places), own, table, cosines, seen)


def _cosine(caption: str, value: float) -> float:
    if not -1.001 <= value <= 1.001:
        raise EvaluationError(
            f"{quoted(caption)}: the teacher gives {value} for a negative; give a cosine, from -1 to 1"
        )
    return value


def batch_of(examples: Examples, chosen: NDArray[np.int64], *, negatives: bool) -> Batch:
    """Return the step's batch; without `negatives`, it has only the captions' texts."""
    own, made = examples.captions[chosen], examples.negatives[chosen] if negatives else examples.negatives[chosen, :0]
    used = np.unique(np.concatenate([own, made[made >= 0]]))
    found = np.searchsorted(used, np.where(made >= 0, made, used[0]))
    teacher = examples.teacher[chosen] if negatives else examples.teacher[chosen, :0]
    return Batch(
        clips=chosen,
        texts=tuple(examples.texts[place] for place in used),
        captions=torch.from_numpy(np.searchsorted(used, own)),
        negatives=torch.from_numpy(np.where(made >= 0, found, -1)),
        teacher=torch.from_numpy(teacher),
        true=torch.from_numpy(np.stack([np.isin(used, examples.true(place)) for place in chosen])),
    )
