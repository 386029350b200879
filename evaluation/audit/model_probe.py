"""Let a language model choose the likeliest text of each item, without the video."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.inference import block_interval, verdict_of
from foilworks.core.solver.solution import Verdict

# Two likelihoods that differ by less are equal.
SAME = 1e-9
Floats = NDArray[np.float64]
# Texts -> scores, higher is likelier.
Scorer = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class ModelResult:
    """The share of items whose right text the model `name` finds likeliest, with a 95 % interval over videos."""

    name: str
    value: float
    interval: tuple[float, float]
    chance: float
    n: int
    verdict: Verdict


def texts_for_model(record: TextRecord) -> list[str]:
    """Return the right text, then the wrong ones, each after its question if there is one."""
    before = f"{record.question} " if record.question else ""
    return [before + text for text in (record.right, *record.wrongs)]


def solve_by_model(records: Sequence[TextRecord], name: str, scores: Mapping[str, float]) -> ModelResult | None:
    """Return what a language model solves that has scored `texts_for_model`; None without records."""
    if not records:
        return None
    gaps = [
        scores[right] - scores[wrong]
        for record in records
        for right, *wrongs in [texts_for_model(record)]
        for wrong in wrongs
    ]
    credit = choice_credits(np.array(gaps), [len(record.wrongs) for record in records])
    blocks = np.unique([record.video or f"item {index}" for index, record in enumerate(records)], return_inverse=True)[
        1
    ]
    value, interval = block_interval(credit, blocks, inflation=1.0)
    chance = float(np.mean([1 / record.n_options for record in records]))
    largest = float(np.bincount(blocks).max()) / len(records)
    verdict, _why, _n_needed = verdict_of(value, interval, chance, len(records), largest, is_certified=False)
    return ModelResult(name, value, interval, chance, len(records), verdict)


def choice_credits(gaps: Floats, sizes: Sequence[int]) -> Floats:
    """Return (items,) credits from the gaps of their pairs, in order: 1 / (number of best texts), 0 if a wrong text is
    best."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    lost = np.add.reduceat((gaps < -SAME).astype(np.int64), starts)
    ties = np.add.reduceat((np.abs(gaps) <= SAME).astype(np.int64), starts)
    return np.where(lost > 0, 0.0, 1.0 / (1 + ties))
