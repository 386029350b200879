"""Let a language model choose the likeliest text of each item, without the video."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.audit.records import SMALL_MODEL
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
    """The share of items that the model `name` answers, with a 95 % interval over videos. `n_parameters`: None if
    unknown; a small model never finds nothing."""

    name: str
    value: float
    interval: tuple[float, float]
    chance: float
    n: int
    verdict: Verdict
    n_parameters: int | None = None


def texts_for_model(record: TextRecord) -> list[str]:
    """Return the right text, then the wrong ones, each after its question if there is one."""
    before = f"{record.question} " if record.question else ""
    return [before + text for text in (record.right, *record.wrongs)]


def solve_by_model(
    records: Sequence[TextRecord], name: str, scores: Mapping[str, float], n_parameters: int | None = None
) -> ModelResult | None:
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
    names = [record.video or f"item {index}" for index, record in enumerate(records)]
    chance = float(np.mean([1 / record.n_options for record in records]))
    return model_result(name, credit, np.unique(names, return_inverse=True)[1], chance, n_parameters)


def model_result(
    name: str, credits: Floats, blocks: NDArray[np.int64], chance: float, n_parameters: int | None
) -> ModelResult:
    """Return the result of (n,) credits; `blocks`: (n,) codes of the videos."""
    value, interval = block_interval(credits, blocks, inflation=1.0)
    largest = float(np.bincount(blocks).max()) / len(credits)
    verdict, _why, _n_needed = verdict_of(value, interval, chance, len(credits), largest, is_certified=False)
    if verdict == "nothing_found_so_far" and n_parameters is not None and n_parameters < SMALL_MODEL:
        verdict = "cannot_tell"
    return ModelResult(name, value, interval, chance, len(credits), verdict, n_parameters)


def choice_credits(gaps: Floats, sizes: Sequence[int]) -> Floats:
    """Return (items,) credits from the gaps of their pairs, in order: 1 / (number of best texts), 0 if a wrong text is
    best."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    lost = np.add.reduceat((gaps < -SAME).astype(np.int64), starts)
    ties = np.add.reduceat((np.abs(gaps) <= SAME).astype(np.int64), starts)
    return np.where(lost > 0, 0.0, 1.0 / (1 + ties))
