"""Compute pairwise ranking accuracy acc_r: does the caption score above every foil? (ViLMA, Sec. 4.2 and Table 8)

P (proficiency), T (main) and P+T (both right) cover the same items: those that have a proficiency item. T over all
items is given as well. P+T is the product of the two credits, which is "both right" without ties.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, Codes, cluster_codes, mean, mean_intervals, t_interval
from evaluation.metrics.ties import Floats, RivalCounts, hit, standing

VERSION = "2"
INPUT = "pairs"


@dataclass(frozen=True)
class PairScores:
    """n items. `main` and `proficiency`: (n, w) scores, higher is better, caption in column 0, padded with NaN.

    A row of `proficiency` is all NaN where the item has none. `clusters` names each item's source video; an item
    without one is its own cluster. `tests` groups subtests.
    """

    ids: Sequence[str]
    main: Floats
    proficiency: Floats
    subtests: Sequence[str]
    tests: Sequence[str]
    clusters: Sequence[str]


@dataclass(frozen=True)
class _Credits:
    main: RivalCounts
    proficiency: RivalCounts
    has_proficiency: NDArray[np.bool_]
    columns: Floats
    clusters: Codes | None


def compute(data: PairScores, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute shares in 0..1 overall, per subtest and per test (items pooled), and the unweighted mean of P+T over
    tests.

    P, P+T and their chance are None where no item has a proficiency item; `avg_P+T` where no test has P+T.
    Raises EvaluationError when there is no item or the tie policy is unknown.
    """
    if not len(data.ids):
        raise EvaluationError("there are no scored items; give at least one record")
    earned = _credits(data, ties)
    groups = _Groups(earned, draws, seed)
    tests = groups.named(data.tests)
    scores_of_tests = [group["P+T"] for group in tests.values() if group["P+T"] is not None]
    return {
        "tie_policy": ties,
        "overall": groups.of(np.ones(len(data.ids), dtype=bool)),
        "subtests": groups.named(data.subtests),
        "tests": tests,
        "avg_P+T": mean(np.array(scores_of_tests)) if scores_of_tests else None,
    }


def _credits(data: PairScores, ties: str) -> _Credits:
    has = ~np.isnan(data.proficiency[:, 0])
    # Rows without a proficiency item have any value here, but not NaN; `has` keeps them out of every share.
    main, proficiency = standing(data.main), standing(np.where(has[:, None], data.proficiency, 0.0))
    right, able = hit(main, ties), hit(proficiency, ties)
    return _Credits(
        main=main,
        proficiency=proficiency,
        has_proficiency=has,
        columns=np.column_stack([right, able, right * able]),
        clusters=cluster_codes(data.clusters),
    )


class _Groups:
    """Numbers of groups of items; equal groups, such as the only subtest and the whole, are computed once."""

    def __init__(self, earned: _Credits, draws: int, seed: int) -> None:
        self._earned, self._draws, self._seed = earned, draws, seed
        self._known: dict[bytes, dict[str, Any]] = {}

    def of(self, selected: NDArray[np.bool_]) -> dict[str, Any]:
        key = hashlib.sha256(np.packbits(selected).tobytes()).digest()
        if key not in self._known:
            self._known[key] = _group(self._earned, selected, self._draws, self._seed)
        return dict(self._known[key])

    def named(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        labels = np.fromiter(map(codes.__getitem__, names), np.int64, len(names))
        return {name: self.of(labels == code) for name, code in codes.items()}


def _group(earned: _Credits, selected: NDArray[np.bool_], draws: int, seed: int) -> dict[str, Any]:
    paired = selected & earned.has_proficiency
    with_p = bool(paired.any())
    over = paired if with_p else selected
    columns = earned.columns[over][:, : 3 if with_p else 1]
    clusters = None if earned.clusters is None else earned.clusters[over]
    shares = [mean(column) for column in columns.T] + ([] if with_p else [None, None])
    intervals = mean_intervals(columns, clusters, draws=draws, seed=seed) + ([] if with_p else [None, None])
    main_chance = 1.0 / earned.main.choices[over]
    chance_p = 1.0 / earned.proficiency.choices[over] if with_p else None
    tied = earned.main.tie_for_best[over]
    return {
        "T": shares[0],
        "P": shares[1],
        "P+T": shares[2],
        "n": int(over.sum()),
        "ties": mean(tied.astype(np.float64)),
        "ties_P": mean(earned.proficiency.tie_for_best[over].astype(np.float64)) if with_p else None,
        "chance": {
            "T": mean(main_chance),
            "P": mean(chance_p) if chance_p is not None else None,
            "P+T": mean(main_chance * chance_p) if chance_p is not None else None,
        },
        "T_ci": intervals[0],
        "P_ci": intervals[1],
        "P+T_ci": intervals[2],
        "T_t_ci": t_interval(columns[:, 0], clusters),
        "T_all": mean(earned.columns[selected][:, 0]),
        "n_all": int(selected.sum()),
        "n_clusters": int(over.sum()) if clusters is None else len(np.unique(clusters)),
    }
