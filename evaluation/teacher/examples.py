"""Hold the training data: clips, captions, false captions, and their similarity according to the teacher.

Texts are referenced by index in one list, so that a step encodes each distinct text once however often it occurs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from text.quoting import quoted


@dataclass(frozen=True)
class Examples:
    """n clips: `texts` every distinct text; `captions` (n,) indices of the positives; `negatives` (n, k) indices, -1
    for missing ones; `teacher` (n, k) cosines sim(e_p, e_t), nan without a negative.
    """

    texts: tuple[str, ...]
    captions: NDArray[np.int64]
    negatives: NDArray[np.int64]
    teacher: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.captions)

    @property
    def with_negatives(self) -> NDArray[np.bool_]:
        """Return whether each clip has any negative, (n,)."""
        return np.asarray((self.negatives >= 0).any(axis=1))


def examples_of(
    captions: Sequence[str], negatives: Sequence[Sequence[str]], teacher: Sequence[Sequence[float]] | None = None
) -> Examples:
    """Build examples from texts: `negatives[i]` come from `captions[i]`; `teacher[i]` are their cosines to it.

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
    return Examples(tuple(places), own, table, cosines)


def _cosine(caption: str, value: float) -> float:
    if not -1.001 <= value <= 1.001:
        raise EvaluationError(
            f"{quoted(caption)}: the teacher gives {value} for a negative; give a cosine, from -1 to 1"
        )
    return value


@dataclass(frozen=True)
class Batch:
    """The clips of a step, its distinct texts, and the indices of each caption and negative in those."""

    clips: NDArray[np.int64]
    texts: tuple[str, ...]
    captions: NDArray[np.int64]
    negatives: NDArray[np.int64]
    teacher: NDArray[np.float32]


def batch_of(examples: Examples, chosen: NDArray[np.int64], *, negatives: bool) -> Batch:
    """Return the step's batch; without `negatives`, it has only the captions' texts."""
    own, made = examples.captions[chosen], examples.negatives[chosen] if negatives else examples.negatives[chosen, :0]
    used = np.unique(np.concatenate([own, made[made >= 0]]))
    found = np.searchsorted(used, np.where(made >= 0, made, used[0]))
    return Batch(
        clips=chosen,
        texts=tuple(examples.texts[place] for place in used),
        captions=np.searchsorted(used, own),
        negatives=np.where(made >= 0, found, -1),
        teacher=examples.teacher[chosen] if negatives else examples.teacher[chosen, :0],
    )
