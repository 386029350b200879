"""Compute text, video and group score of items of two clips (Thrush et al. 2022, Sec. 3), (Zhang et al. 2024).

s(c, i) is the score of caption c on clip i. Caption 0 is true of clip 0 alone, caption 1 of clip 1 alone.

    text     s(0, 0) > s(1, 0) and s(1, 1) > s(0, 1)
    video    s(0, 0) > s(0, 1) and s(1, 1) > s(1, 0)
    group    both

Chance is that of four independent scores of one continuous distribution. Text and video are two comparisons without a
common score: 1/2 * 1/2 = 1/4. Group says that both true scores are above both false ones: 2! * 2! of 4! orders, 1/6.

`half` breaks ties at random, as if each score had a small independent noise. A text or video comparison counts 1/2. If
a true scores tie with b false ones at the border, the group counts 1 / C(a + b, a). So four equal scores get the
chance. `strict` is the rule of both papers. `optimistic` counts ties as right, and so does `first`: records list the
true score first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, cluster_codes, mean, mean_intervals
from evaluation.metrics.ties import POLICIES, Floats
from foilworks.core.text.quoting import quoted

VERSION = "1"
INPUT = "two_clips"

SCORES = ("text", "video", "group")
# What a score may be compared with: every score of the item; the other text on the same clip, of which it is a share;
# or nothing but that text, if only the winner is known.
ABSOLUTE, SHARES, WINNERS = "absolute", "shares", "winners"
_CHANCE: dict[str, dict[str, float | None]] = {
    ABSOLUTE: {"text": 1 / 4, "video": 1 / 4, "group": 1 / 6},
    # A share says the same of both captions: one comparison of two clips, and the text score implies it.
    SHARES: {"text": 1 / 4, "video": 1 / 2, "group": 1 / 4},
    WINNERS: {"text": 1 / 4, "video": None, "group": None},
}


@dataclass(frozen=True)
class TwoClipScores:
    """n items. `scores`: (n, 4), higher is better: s(0, 0), s(1, 0), s(0, 1), s(1, 1), where s(c, i) is of caption c
    on clip i. `clusters` names the sources of both clips."""

    ids: Sequence[str]
    scores: Floats
    subtests: Sequence[str]
    clusters: Sequence[str]
    kind: str = ABSOLUTE


def compute(data: TwoClipScores, *, ties: str = "half", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute the three shares in 0..1 with intervals and chance, overall and per subtest.

    Video and group are None if only the winner of each clip is known. EvaluationError: no item, unknown tie policy.
    """
    if not len(data.ids):
        raise EvaluationError("there are no scored items of two clips; give at least one record")
    columns, tied = credits_of(data, ties), _has_ties(data)
    codes = cluster_codes(data.clusters)
    subtests = np.array(data.subtests, dtype=object)
    all_items = np.ones(len(data.ids), dtype=bool)

    def group(selected: NDArray[np.bool_]) -> dict[str, Any]:
        clusters = None if codes is None else codes[selected]
        return _group(columns[selected], tied[selected], clusters, data.kind, draws, seed)

    return {
        "tie_policy": ties,
        "scores": data.kind,
        "overall": group(all_items),
        "subtests": {name: group(subtests == name) for name in dict.fromkeys(data.subtests)},
    }


def credits_of(data: TwoClipScores, ties: str) -> Floats:
    """Return the credit for text, video and group per item, (n, 3) in 0..1."""
    if ties not in POLICIES:
        raise EvaluationError(f"unknown tie policy {quoted(ties)}; choose one of: {', '.join(POLICIES)}")
    right0, wrong1, wrong0, right1 = data.scores.T
    text = _win_credit(right0, wrong1, ties) * _win_credit(right1, wrong0, ties)
    if data.kind == SHARES:
        # The margins are on a scale that holds for shares and their logarithms.
        video = _win_credit(right0 - wrong1, wrong0 - right1, ties)
        return np.column_stack([text, video, text])
    video = _win_credit(right0, wrong0, ties) * _win_credit(right1, wrong1, ties)
    return np.column_stack([text, video, _group_credit(data.scores, ties)])


def _win_credit(first: Floats, second: Floats, ties: str) -> Floats:
    value = {"half": 0.5, "strict": 0.0}.get(ties, 1.0)
    return np.where(first == second, value, (first > second).astype(np.float64))


def _group_credit(scores: Floats, ties: str) -> Floats:
    """Return the credit for the two true scores being above the two false ones."""
    right, wrong = scores[:, [0, 3]], scores[:, [1, 2]]
    low, high = right.min(axis=1), wrong.max(axis=1)
    credit = (low > high).astype(np.float64)
    for at in np.flatnonzero(low == high):
        n_right, n_wrong = int((right[at] == low[at]).sum()), int((wrong[at] == high[at]).sum())
        credit[at] = {"half": 1 / comb(n_right + n_wrong, n_right), "strict": 0.0}.get(ties, 1.0)
    return credit


def _has_ties(data: TwoClipScores) -> Floats:
    """Return 1 for items in which a tie decides one of the comparisons that count, (n,)."""
    right0, wrong1, wrong0, right1 = data.scores.T
    tied = (right0 == wrong1) | (right1 == wrong0)
    if data.kind == ABSOLUTE:
        tied |= (right0 == wrong0) | (right1 == wrong1)
    return tied.astype(np.float64)


def _group(
    columns: Floats, tied: Floats, clusters: NDArray[np.int64] | None, kind: str, draws: int, seed: int
) -> dict[str, Any]:
    chance = _CHANCE[kind]
    intervals = mean_intervals(columns, clusters, draws=draws, seed=seed)
    has_chance = [chance[name] is not None for name in SCORES]
    shares = {name: mean(columns[:, k]) if has_chance[k] else None for k, name in enumerate(SCORES)}
    bounds = {f"{name}_ci": intervals[k] if has_chance[k] else None for k, name in enumerate(SCORES)}
    n_clusters = len(columns) if clusters is None else len(np.unique(clusters))
    return {**shares, **bounds, "n": len(columns), "ties": mean(tied), "chance": dict(chance), "n_clusters": n_clusters}
