"""Can foils be told from captions by their words alone? (methods.md, "Balance"; Hendricks & Nematzadeh 2021)

A logistic regression (C = 1) on lower-cased unigram counts learns caption against foil; folds are grouped by caption,
so that no caption is met in training. The share of held-out pairs whose caption scores above its foil, ties half, is
.5 where words say nothing. Below .5 on mirrored data is an artefact of held-out folds: a gate reads one side only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from evaluation.analyses._records import ItemFacts
from evaluation.errors import EvaluationError
from evaluation.metrics._intervals import DRAWS, SEED, mean, mean_intervals
from text.tokens import words

VERSION = "1"
INPUT = "texts"
FOLDS = 5
# Floating-point noise between two texts of the same words must not look like a preference.
SAME = 1e-9


def compute(items: Sequence[ItemFacts], *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Per subtest and overall (one classifier over all): accuracy in 0..1, its interval over captions, n_items.

    Accuracy is None with a `reason` where there are fewer than two different captions. EvaluationError without items.
    """
    if not items:
        raise EvaluationError("there are no items; give at least one caption with a foil")
    names = dict.fromkeys(item.subtest for item in items)
    return {
        "subtests": [_row(name, [item for item in items if item.subtest == name], draws, seed) for name in names],
        "overall": _row("overall", items, draws, seed),
    }


def _row(name: str, items: Sequence[ItemFacts], draws: int, seed: int) -> dict[str, Any]:
    pairs = [(item.caption, foil) for item in items for foil in item.foils]
    groups = [" ".join(words(caption)) for caption, _ in pairs]
    found: dict[str, Any] = {"name": name, "n_items": len(items), "n_pairs": len(pairs), "folds": None}
    longer = np.array([_beats(len(words(caption)), len(words(foil))) for caption, foil in pairs])
    length = {"caption_longer": mean(longer), "caption_longer_ci": mean_intervals(longer[:, None], groups)[0]}
    folds = min(FOLDS, len(set(groups)))
    if folds < 2:
        reason = "fewer than two different captions"
        return {**found, "classifier_accuracy": None, "ci": None, "reason": reason} | length
    won = _held_out(pairs, groups, folds, seed)
    (interval,) = mean_intervals(won[:, None], groups, draws=draws, seed=seed)
    return {**found, "folds": folds, "classifier_accuracy": mean(won), "ci": interval, "reason": None} | length


def _held_out(pairs: Sequence[tuple[str, str]], groups: list[str], folds: int, seed: int) -> NDArray[np.float64]:
    """(pairs,) 1 where the held-out caption scores above its foil, .5 where level, else 0."""
    vectorizer = CountVectorizer(analyzer=words)
    counts = vectorizer.fit_transform([caption for caption, _ in pairs] + [foil for _, foil in pairs])
    n = len(pairs)
    # A word that no training text has keeps the weight 0, so one vocabulary for all folds leaks nothing.
    difference = counts[:n].astype(np.float64) - counts[n:].astype(np.float64)
    won = np.empty(n)
    splitter = GroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(np.zeros(n), groups=groups):
        texts = sparse.vstack([counts[train], counts[n + train]])
        labels = np.repeat([1, 0], len(train))
        model = LogisticRegression(C=1.0, max_iter=1000).fit(texts, labels)
        gap = difference[test] @ model.coef_[0]
        won[test] = np.where(np.abs(gap) <= SAME, 0.5, gap > 0)
    return won


def _beats(a: int, b: int) -> float:
    return 0.5 if a == b else float(a > b)
