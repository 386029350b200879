"""Evaluate a dual encoder on a held-out set, and compare two of them on the same set (Feint6K, Secs. 5.2 and 5.3).

Standard video-to-text retrieval, retrieval among counterfactuals (RCAD) and the change of the cosine by type of edit,
all from the values of one pass. Several results may belong to one model trained with several seeds: an item's credit is
then their mean, and intervals are over source videos. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses import delta
from evaluation.analyses.scored_items import ScoredItems
from evaluation.errors import EvaluationError
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.comparison import GAPS, mcnemar, paired_difference
from evaluation.metrics.intervals import SHARES, mean, mean_intervals
from evaluation.metrics.ties import RivalCounts, hit, rank, standing
from evaluation.score_files.scores import padded

Floats = NDArray[np.float64]
ACTION, OBJECT = "action", "object"
STANDARD, R1, R2, RANK = "standard R@1", "RCAD R@1", "RCAD R@2", "RCAD mean rank"
TIES = "half"
# A result on the clips that choose the model, among the parts of a point.
HELD = "held out: {name}"


@dataclass(frozen=True)
class HeldOut:
    """n items over c clips: `texts` of an item, its caption first; `kinds` what each of its foils changes; `clips` the
    index of its clip; `captions` (c,) each clip's own; `sources` (c,) its source video.
    """

    ids: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    kinds: tuple[tuple[str, ...], ...]
    clips: tuple[int, ...]
    captions: tuple[str, ...]
    sources: tuple[str, ...]

    def spread_sample(self, max_items: int) -> tuple["HeldOut", list[int]]:
        """Return at most this many items, spread evenly, with the clips that they need, and the original indices of
        these.
        """
        rows = np.unique(np.linspace(0, len(self.ids) - 1, min(max_items, len(self.ids))).round().astype(int)).tolist()
        used = sorted({self.clips[row] for row in rows})
        new_index = {clip: at for at, clip in enumerate(used)}
        held_out = HeldOut(
            tuple(self.ids[row] for row in rows),
            tuple(self.texts[row] for row in rows),
            tuple(self.kinds[row] for row in rows),
            tuple(new_index[self.clips[row]] for row in rows),
            tuple(self.captions[clip] for clip in used),
            tuple(self.sources[clip] for clip in used),
        )
        return held_out, used


@dataclass(frozen=True)
class EvaluationResult:
    """`scores` of n items, caption first; `above` and `tied` (c,) rivals of each clip's own caption among `choices`
    distinct captions; `sources` of the clips, `clusters` of the items; `truncated` the items with a truncated text.
    """

    ids: tuple[str, ...]
    clusters: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...], ...]
    sources: tuple[str, ...]
    above: tuple[int, ...]
    tied: tuple[int, ...]
    choices: int
    truncated: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "EvaluationResult":
        """Create the result from JSON."""
        deep = ("kinds", "scores")
        values = {name: tuple(map(tuple, raw[name])) if name in deep else raw[name] for name in raw}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    @property
    def ranked(self) -> NDArray[np.int64]:
        """Return the indices of the items of RCAD: two foils or more, and none that changes an object."""
        several = [len(row) > 2 and OBJECT not in kinds for row, kinds in zip(self.scores, self.kinds, strict=True)]
        return np.flatnonzero(several)

    def retrieved(self) -> Floats:
        """Return the credit of standard video-to-text retrieval at 1, (c,)."""
        above, tied = np.array(self.above), np.array(self.tied)
        where = RivalCounts(above, tied, np.zeros_like(tied), np.full(len(above), self.choices))
        return hit(where, TIES)

    def choices_of(self) -> ChoiceScores | None:
        """Return the items of RCAD; None if there are none."""
        rows = self.ranked.tolist()
        if not rows:
            return None
        names = [self.ids[row] for row in rows]
        table = padded([self.scores[row] for row in rows])
        return ChoiceScores(names, table, np.zeros(len(rows), np.int64), [self.clusters[row] for row in rows])


Values = Mapping[str, tuple[Floats, Sequence[str]]]


def values_of(reading: EvaluationResult) -> Values:
    """Return {measure: (a value per item, foil or clip, its source video)}."""
    values_by_measure: dict[str, tuple[Floats, Sequence[str]]] = {STANDARD: (reading.retrieved(), reading.sources)}
    ranked = reading.choices_of()
    if ranked is not None:
        where = standing(ranked.scores, ranked.right)
        values_by_measure[R1], values_by_measure[R2] = (
            (hit(where, TIES, 1), ranked.clusters),
            (hit(where, TIES, 2), ranked.clusters),
        )
        values_by_measure[RANK] = (rank(where, TIES), ranked.clusters)
    for kind in kinds_of(reading):
        pairs = [
            (value - row[0], cluster)
            for row, kinds, cluster in zip(reading.scores, reading.kinds, reading.clusters, strict=True)
            for value, own in zip(row[1:], kinds, strict=True)
            if own == kind
        ]
        changes, sources = np.array([change for change, _ in pairs]), [source for _, source in pairs]
        values_by_measure[above_zero(kind)] = ((changes > 0).astype(np.float64), sources)
        values_by_measure[change(kind)] = (changes, sources)
    return values_by_measure


def above_zero(kind: str) -> str:
    return f"{kind}: share above 0"


def change(kind: str) -> str:
    return f"{kind}: mean change"


def kinds_of(reading: EvaluationResult) -> list[str]:
    return sorted({kind for kinds in reading.kinds for kind in kinds if kind})


def is_share(measure: str) -> bool:
    return measure != RANK and not measure.endswith("mean change")


def summary(readings: Sequence[EvaluationResult]) -> dict[str, dict[str, Any]]:
    """Return {measure: value, its interval over source videos, number of values} of one model, averaged over
    its seeds."""
    rows_by_measure = {}
    for measure, (values, clusters) in averaged(readings).items():
        (interval,) = mean_intervals(values[:, None], list(clusters), bounds=[SHARES if is_share(measure) else None])
        rows_by_measure[measure] = {"value": mean(values), "ci": interval, "n": len(values)}
    return rows_by_measure


def averaged(readings: Sequence[EvaluationResult]) -> Values:
    """Return the values with each item's mean over the results. EvaluationError: they cover different sets."""
    if any(reading.ids != readings[0].ids or reading.sources != readings[0].sources for reading in readings[1:]):
        raise EvaluationError("these evaluations cover different items; compare models on the same release")
    every = [values_of(reading) for reading in readings]
    return {
        name: (np.mean([values[name][0] for values in every], axis=0), clusters)
        for name, (_, clusters) in every[0].items()
    }


def compared(before: Sequence[EvaluationResult], after: Sequence[EvaluationResult]) -> dict[str, dict[str, Any]]:
    """Return {measure: `before`, `after`, after minus before with paired intervals}; R@1 with McNemar's test for one
    result per side.

    EvaluationError: they cover different sets.
    """
    averaged([before[0], *after])
    differences = {}
    first, second = averaged(before), averaged(after)
    for measure, (old, clusters) in first.items():
        new = second[measure][0]
        once = measure in (R1, STANDARD) and len(before) == len(after) == 1
        differences[measure] = {
            "before": mean(old),
            "after": mean(new),
            **paired_difference(new, old, list(clusters), bounds=GAPS if is_share(measure) else None).plain(),
            "mcnemar": mcnemar(new, old).plain() if once else None,
        }
    return differences


def changes(models: Mapping[str, EvaluationResult]) -> dict[str, Any]:
    """Run analyses.delta for several models on one set: distributions of the change of the cosine by type of edit."""
    first_result = next(iter(models.values()))
    facts = [{"edited": list(kinds)} for kinds in first_result.kinds]
    tables = {name: padded([list(row) for row in reading.scores]) for name, reading in models.items()}
    return delta.compute(ScoredItems(first_result.ids, first_result.clusters, facts, tables, {}))
