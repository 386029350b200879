"""Compare filters with human verdicts: find a threshold that passes good foils and stops bad ones.

Good: a foil that validators found valid, or that a reviewer accepted and nobody has judged yet. Bad: one found invalid,
or dropped in review. A disputed foil is neither. Precision: the share of good foils among those that pass. Recall: the
share of good foils that pass. The threshold is fitted on four fifths of the captions and tested on the rest, so
precision and recall are on held-out foils. Intervals are from a bootstrap over captions. People judged only foils that
passed the run's filters, so nothing is known beyond the current thresholds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.analyses.verdicts import FilterVerdicts, Flags, Floats
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, bootstrap, cluster_sums

VERSION = "1"
INPUT = "verdicts"
FOLDS = 5
# With fewer foils of either class, no threshold is fitted.
MIN_PER_CLASS = 5
POINTS = 40


def compute(filters: Sequence[FilterVerdicts], *, precision: float = 0.0) -> dict[str, Any]:
    """Compute one row per filter.

    `precision` 0: the threshold of the best F1; else the threshold of the highest recall at that precision.
    EvaluationError: no judged foil has a filter score, or the precision is not a share.
    """
    if not 0 <= precision <= 1:
        raise EvaluationError(f"the precision is {precision}; give a number from 0 (best F1) to 1")
    if not filters:
        raise EvaluationError("no foil with a filter score has been judged; review or validate some first")
    return {"filters": [_row(verdicts, precision) for verdicts in filters], "precision": precision}


def _row(verdicts: FilterVerdicts, min_precision: float) -> dict[str, Any]:
    n_good = int(verdicts.good.sum())
    row: dict[str, Any] = {
        "filter": verdicts.filter,
        "label": verdicts.label,
        "higher_passes": verdicts.higher_passes,
        "n": len(verdicts.good),
        "n_good": n_good,
        "n_bad": len(verdicts.good) - n_good,
        "now": _rates(verdicts.now, verdicts.good, verdicts.captions),
        "reason": None,
        "fitted": None,
        "threshold": None,
        "auc": None,
        "curve": [],
    }
    if min(n_good, row["n_bad"]) < MIN_PER_CLASS or len(set(verdicts.captions)) < FOLDS:
        return row | {"reason": f"fewer than {MIN_PER_CLASS} good or bad foils, or {FOLDS} captions"}
    # Where a stored result is read, nobody waits for scikit-learn.
    from sklearn.metrics import roc_auc_score

    upward = verdicts.scores if verdicts.higher_passes else -verdicts.scores
    threshold = fit(upward, verdicts.good, min_precision)
    return row | {
        "auc": float(roc_auc_score(verdicts.good, upward)),
        "threshold": threshold if verdicts.higher_passes else -threshold,
        "fitted": _rates(_held_out(upward, verdicts, min_precision), verdicts.good, verdicts.captions),
        "curve": _curve(upward, verdicts),
    }


def fit(upward: Floats, good: Flags, min_precision: float = 0.0) -> float:
    """Fit the threshold t, one of the scores, of the rule "passes from t on".

    It has the best F1 or, with `wanted`, the highest recall at that precision (the best precision, if none reaches it).
    Of equal thresholds, the one that passes most foils.
    """
    order = np.argsort(-upward, kind="stable")
    scores, hits = upward[order], np.cumsum(good[order])
    # A threshold is possible only where the next score differs.
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    n_passed, hits = ends + 1, hits[ends]
    precision, recall = hits / n_passed, hits / max(1, int(good.sum()))
    if min_precision <= 0:
        value = 2 * hits / (n_passed + int(good.sum()))
    elif (precision >= min_precision).any():
        value = np.where(precision >= min_precision, recall, -1.0)
    else:
        value = precision
    best = len(value) - 1 - int(np.argmax(value[::-1]))
    return float(scores[ends[best]])


def _held_out(upward: Floats, verdicts: FilterVerdicts, min_precision: float) -> Flags:
    from sklearn.model_selection import GroupKFold

    passes = np.zeros(len(upward), dtype=np.bool_)
    splitter = GroupKFold(n_splits=FOLDS, shuffle=True, random_state=SEED)
    for train, test in splitter.split(upward, groups=list(verdicts.captions)):
        passes[test] = upward[test] >= fit(upward[train], verdicts.good[train], min_precision)
    return passes


def _rates(passes: Flags, good: Flags, captions: Sequence[str]) -> dict[str, Any]:
    """Compute precision and recall with intervals; None if nothing passes, or nothing is good."""
    columns = np.column_stack([passes & good, passes, good]).astype(np.float64)
    rows = cluster_sums(columns, captions)
    hits, n_passed, total = columns.sum(axis=0)
    return {
        "n_pass": int(n_passed),
        "precision": float(hits / n_passed) if n_passed else None,
        "precision_ci": bootstrap(rows, lambda sums: _ratio(sums, 1), draws=DRAWS) if n_passed else None,
        "recall": float(hits / total) if total else None,
        "recall_ci": bootstrap(rows, lambda sums: _ratio(sums, 2), draws=DRAWS) if total else None,
    }


def _ratio(sums: Floats, below: int) -> Floats:
    nothing = np.full(len(sums), np.nan)
    return np.divide(sums[:, 0], sums[:, below], out=nothing, where=sums[:, below] > 0)


def _curve(upward: Floats, verdicts: FilterVerdicts) -> list[dict[str, float]]:
    """Compute precision and recall at up to POINTS thresholds over the range of the scores."""
    points = []
    for at in np.unique(np.quantile(upward, np.linspace(0, 1, POINTS))):
        passes = upward >= at
        hits = int((passes & verdicts.good).sum())
        threshold = float(at if verdicts.higher_passes else -at)
        points.append(
            {"threshold": threshold, "precision": hits / int(passes.sum()), "recall": hits / int(verdicts.good.sum())}
        )
    return points
