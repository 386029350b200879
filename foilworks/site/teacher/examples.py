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

    def true(self, index: int) -> NDArray[np.int64]:
        """Return the texts that are captions of the video at this index."""
        return self.captions[self._rows[int(self.videos[index])]]

    @cached_property
    def _rows(self) -> dict[int, list[int]]:
        rows_by_video: dict[int, list[int]] = {}
        for row, video in enumerate(self.videos.tolist()):
            rows_by_video.setdefault(video, []).append(row)
        return rows_by_video

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
    index_by_text: dict[str, int] = {}
    width = max(map(len, negatives), default=0)
    table = np.full((len(captions), width), -1, dtype=np.int64)
    cosines = np.full((len(captions), width), np.nan, dtype=np.float32)
    own = np.array([index_by_text.setdefault(text, len(index_by_text)) for text in captions], dtype=np.int64)
    for row, (caption, caption_negatives) in enumerate(zip(captions, negatives, strict=True)):
        if caption in caption_negatives:
            raise EvaluationError(f"{quoted(caption)}: a negative is equal to its caption; run the filter `identical`")
        for column, text in enumerate(caption_negatives):
            table[row, column] = index_by_text.setdefault(text, len(index_by_text))
            if teacher is not None:
                cosines[row, column] = _cosine(caption, teacher[row][column])
    seen = np.arange(len(captions)) if videos is None else np.array(videos, dtype=np.int64)
    return Examples(tuple(index_by_text), own, table, cosines, seen)


def _cosine(caption: str, value: float) -> float:
    if not -1.001 <= value <= 1.001:
        raise EvaluationError(
            f"{quoted(caption)}: the teacher gives {value} for a negative; give a cosine, from -1 to 1"
        )
    return value


def batch_of(examples: Examples, clips: NDArray[np.int64], *, negatives: bool) -> Batch:
    """Return the step's batch; without `negatives`, it has only the captions' texts."""
    own, negative_ids = (
        examples.captions[clips],
        examples.negatives[clips] if negatives else examples.negatives[clips, :0],
    )
    used = np.unique(np.concatenate([own, negative_ids[negative_ids >= 0]]))
    batch_negatives = np.searchsorted(used, np.where(negative_ids >= 0, negative_ids, used[0]))
    teacher = examples.teacher[clips] if negatives else examples.teacher[clips, :0]
    return Batch(
        clips=clips,
        texts=tuple(examples.texts[text_id] for text_id in used),
        captions=torch.from_numpy(np.searchsorted(used, own)),
        negatives=torch.from_numpy(np.where(negative_ids >= 0, batch_negatives, -1)),
        teacher=torch.from_numpy(teacher),
        true=torch.from_numpy(np.stack([np.isin(used, examples.true(clip)) for clip in clips])),
    )
