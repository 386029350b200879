"""Estimate what a video model saves that screens foils before people see them, and what it loses.

People judge all foils that the model accepts, and a random share of those that it rejects. A judged foil has the weight
of its part of the run: foils per judged foil (inverse-probability weights). So the rejected ones count in full.

Saved work is measured at an equal number of valid foils: 1 - sent / kept. Sent is the share of foils that go to people,
kept the share of valid foils that is not lost. A model that rejects at random loses as much as it saves, so it saves
nothing. A model that is always right saves the invalid foils, less the sample.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import LEVEL, NOTHING, cluster_error, cluster_sums, score_interval

VERSION = "1"
INPUT = "screening"
# Thresholds of the curve, at quantiles of the scores.
POINTS = 20

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ScreenedFoils:
    """n foils with a score of `model` that no other filter rejected.

    `above`: (n,) accepted at the threshold of their run; `sampled`: (n,) sent to people whatever the score, which the
    share (n,) `shares` of all foils is; `valid`: (n,) 1, 0, or NaN without a verdict of people; `runs`, `videos`: (n,)
    names. `threshold`: of the newest run.
    """

    model: str
    scores: Floats
    above: Flags
    sampled: Flags
    shares: Floats
    valid: Floats
    runs: Sequence[str]
    videos: Sequence[str]
    threshold: float


@dataclass(frozen=True)
class _Judged:
    """The judged foils that count, with their weights: of the rejected ones only those of the sample."""

    scores: Floats
    valid: Floats
    weights: Floats
    videos: NDArray[Any]


def compute(judges: Sequence[ScreenedFoils], *, max_loss: float = 0.05) -> dict[str, Any]:
    """Return a row per model with its rates, and its `curve` over thresholds.

    EvaluationError: no foil was screened, or the loss is not a share.
    """
    if not 0 <= max_loss < 1:
        raise EvaluationError(f"max_loss: {max_loss:g} is out of range; give a share of 0 to below 1, such as 0.05")
    if not judges:
        raise EvaluationError("no video model has screened foils yet; choose the filter “Video model” in a run")
    return {"max_loss": max_loss, "judges": [_row(screened, max_loss) for screened in judges]}


def _row(screened: ScreenedFoils, max_loss: float) -> dict[str, Any]:
    row = {"model": screened.model, "threshold": screened.threshold, **rates_of(screened)}
    unjudged = "unjudged_accepted" if row["precision"] is None else "unjudged_rejected"
    if row["recall"] is None:
        return row | {"best_threshold": None, "best": None, "curve": [], "reason": unjudged}
    curve = _curve(screened, judged_of(screened))
    best = best_of(curve, max_loss)
    best_threshold = best["threshold"] if best else None
    return row | {"best_threshold": best_threshold, "best": best, "curve": curve, "reason": None}


def rates_of(screened: ScreenedFoils) -> dict[str, Any]:
    """Return the counts and rates at the thresholds of the runs; None for a rate that needs more verdicts."""
    judged, accepted = judged_of(screened), screened.above[_counts(screened)]
    precision, rejection = _share(judged, accepted), _share(judged, ~accepted)
    return {
        "n": len(screened.scores),
        "n_rejected": int((~screened.above).sum()),
        "n_sampled": int((~screened.above & screened.sampled).sum()),
        "n_accepted_judged": int(accepted.sum()),
        "n_rejected_judged": int((~accepted).sum()),
        "precision": precision.value if precision else None,
        "precision_ci": precision.interval(LEVEL) if precision else None,
        "invalid_rejected": 1.0 - rejection.value if rejection else None,
        "invalid_rejected_ci": [1.0 - end for end in reversed(rejection.interval(LEVEL))] if rejection else None,
        **_effect(screened.above, screened.shares, precision, rejection, LEVEL),
    }


def _counts(screened: ScreenedFoils) -> Flags:
    """Return (n,) the judged foils whose chance of being judged is known."""
    return ~np.isnan(screened.valid) & (screened.above | screened.sampled)


def judged_of(screened: ScreenedFoils) -> _Judged:
    """Return the judged foils with their weights: foils per judged foil, of accepted and rejected ones of each run."""
    counts = _counts(screened)
    weights = np.zeros(len(screened.scores))
    runs = np.asarray(screened.runs, dtype=object)
    for run in dict.fromkeys(screened.runs):
        for side in (screened.above, ~screened.above):
            members = side & (runs == run)
            if (members & counts).any():
                weights[members & counts] = members.sum() / (members & counts).sum()
    videos = np.asarray(screened.videos, dtype=object)
    return _Judged(screened.scores[counts], screened.valid[counts], weights[counts], videos[counts])


@dataclass(frozen=True)
class _Share:
    """A weighted share, as precise as that of `n` independent foils."""

    value: float
    n: float

    def interval(self, level: float) -> list[float]:
        return score_interval(self.value, self.n, level=level)


def _share(judged: _Judged, members: Flags) -> _Share | None:
    """Return the share of valid foils among the members; None without any."""
    weights, valid = judged.weights[members], judged.valid[members]
    if not len(valid):
        return None
    value = float((weights * valid).sum() / weights.sum())
    most = float(weights.sum() ** 2 / (weights**2).sum())
    rows = cluster_sums(np.column_stack([weights * valid, weights]), judged.videos[members])
    spread = value * (1.0 - value)
    error = cluster_error(rows)[1] if len(rows) > 1 else 0.0
    # Without spread, each video counts as one foil.
    n = spread / error**2 if min(spread, error) > NOTHING else float(len(rows))
    return _Share(value, min(most, n))


def _effect(
    above: Flags, shares: Floats, accepted: _Share | None, rejected: _Share | None, level: float
) -> dict[str, Any]:
    """Return the shares of foils sent to people, of valid foils accepted (recall) and lost, and of saved work."""
    n, n_above = len(above), int(above.sum())
    share_seen = float(shares[~above].mean()) if n_above < n else 0.0
    share_sent = (n_above + share_seen * (n - n_above)) / n
    nothing = dict.fromkeys(("recall", "recall_ci", "lost", "lost_ci", "saved", "saved_ci"))
    if n_above == n:
        return {"sent": 1.0, **nothing, **({"recall": 1.0, "lost": 0.0, "saved": 0.0} if accepted else {})}
    if accepted is None or rejected is None or not accepted.value:
        return {"sent": share_sent, **nothing}
    odds = (n - n_above) / n_above if n_above else math.inf
    ratio, interval = rejected.value / accepted.value, _ratio_interval(rejected, accepted, level)
    ends = [_lost(odds * end, share_seen) for end in interval]
    lost = _lost(odds * ratio, share_seen)
    return {
        "sent": share_sent,
        "recall": 1.0 / (1.0 + odds * ratio),
        "recall_ci": [1.0 / (1.0 + odds * end) for end in reversed(interval)],
        "lost": lost,
        "lost_ci": ends,
        "saved": 1.0 - share_sent / (1.0 - lost),
        "saved_ci": [1.0 - share_sent / max(1.0 - end, NOTHING) for end in reversed(ends)],
    }


def _lost(odds: float, share_seen: float) -> float:
    """Return the share of valid foils that nobody sees; `odds`: rejected valid foils per accepted valid one."""
    return (1.0 - share_seen) * odds / (1.0 + odds)


def _ratio_interval(top: _Share, bottom: _Share, level: float) -> list[float]:
    """Return the interval of a ratio of two shares, from the intervals of both (Zou & Donner 2008).

    Its ends are the ratios at which the interval of top - ratio x bottom ends at 0.
    """
    (low, high), (least, most) = top.interval(level), bottom.interval(level)
    product = top.value * bottom.value
    low_divisor, high_divisor = most * (2 * bottom.value - most), least * (2 * bottom.value - least)
    first = product**2 - low * (2 * top.value - low) * low_divisor
    last = product**2 - high * (2 * top.value - high) * high_divisor
    lower = (product - math.sqrt(max(first, 0.0))) / low_divisor if low_divisor > NOTHING else low / most
    upper = (
        (product + math.sqrt(max(last, 0.0))) / high_divisor if high_divisor > NOTHING else high / max(least, NOTHING)
    )
    return [max(0.0, lower), upper]


def _curve(screened: ScreenedFoils, judged: _Judged) -> list[dict[str, Any]]:
    """Return the effect of up to POINTS thresholds. `sure`: the lower end of saved work, for all of them together."""
    points = []
    thresholds = np.unique(np.quantile(screened.scores, np.linspace(0, 1, POINTS + 2)[1:-1]))
    together = 1.0 - (1.0 - LEVEL) / len(thresholds)
    for at in thresholds:
        above, accepted = screened.scores >= at, judged.scores >= at
        shares = _share(judged, accepted), _share(judged, ~accepted)
        effect = _effect(above, screened.shares, *shares, LEVEL)
        if effect["saved"] is None:
            continue
        sure = (_effect(above, screened.shares, *shares, together)["saved_ci"] or [0.0])[0]
        points.append({"threshold": float(at), "rejected": float((~above).mean()), **effect, "sure": sure})
    return points


def best_of(curve: Sequence[dict[str, Any]], max_loss: float) -> dict[str, Any] | None:
    """Return the threshold that saves most at this loss, of those that save something beyond chance; None: none."""
    fit = [point for point in curve if point["lost"] <= max_loss and point["sure"] > 0]
    return max(fit, key=lambda point: point["saved"], default=None)
