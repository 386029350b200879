"""Distinguish captions from foils by a bag-of-words classifier (docs/explanation/balance.md#blind-audit).

Logistic regression (C = 1) on counts of lower-cased words, and of the character n-grams inside words of scripts
without spaces (`foilworks.core.text.tokens.word_features`); a pair counts 1 if its caption scores above its foil, .5
if both scores are equal. `held_out` trains on other captions; `fitted` scores its training data, the harder test for a
set that should not reveal anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from foilworks.core.text.tokens import word_features, words
from generation.balance.balanced_pairs import Texts, caption_groups

FOLDS = 5
SEED = 0
# Floating-point noise between two texts with the same words must not count as a preference.
SAME = 1e-9

Won = NDArray[np.float64]


@dataclass(frozen=True)
class TellingWord:
    """A cue word of the classifier: a weight above 0 indicates captions. `gain`: the weight times how much
    more often one side has the word, which is the word's share of the classifier's gain over all pairs."""

    word: str
    in_captions: int
    in_foils: int
    weight: float
    gain: float


def held_out(pairs: Texts, *, folds: int = FOLDS, seed: int = SEED) -> Won | None:
    """Return (n,) what each (caption, foil) counts when trained on the other folds, grouped by caption.

    None with fewer than two different captions.
    """
    gaps = held_out_gaps(pairs, caption_groups(pairs), folds=folds, seed=seed)
    return None if gaps is None else credits(gaps)


def held_out_gaps(
    pairs: Texts,
    groups: Sequence[str],
    analyzer: Callable[[str], list[str]] = word_features,
    *,
    folds: int = FOLDS,
    seed: int = SEED,
    min_texts: int = 1,
) -> NDArray[np.float64] | None:
    """Return (n,) how much higher each caption scores than its foil, trained on the other folds of `groups`.

    `min_texts`: features in fewer texts are not learned. None with fewer than two different groups.
    """
    # Where a stored result is read, nobody waits for scikit-learn.
    from sklearn.model_selection import GroupKFold

    folds = min(folds, len(set(groups)))
    if folds < 2:
        return None
    counts, _ = _counted(pairs, analyzer, min_texts)
    n = len(pairs)
    gaps = np.empty(n)
    splitter = GroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(np.zeros(n), groups=groups):
        # A word that no training text has keeps weight 0, so one vocabulary for all folds leaks nothing.
        gaps[test] = (counts[test] - counts[n + test]) @ _weights(counts[train], counts[n + train])
    return gaps


def credits(gaps: NDArray[np.float64]) -> Won:
    """Return what each pair counts: 1 if its caption scores higher, .5 if both score the same."""
    return np.where(np.abs(gaps) <= SAME, 0.5, gaps > 0).astype(np.float64)


def fitted(pairs: Texts) -> Won:
    """Return (n,) what each pair counts when trained on all pairs, including itself."""
    if not pairs:
        return np.empty(0)
    counts, _ = _counted(pairs)
    n = len(pairs)
    return credits((counts[:n] - counts[n:]) @ _weights(counts[:n], counts[n:]))


def cue_words(pairs: Texts, *, top: int = 10) -> list[TellingWord]:
    """Return the words that reveal captions or foils, by gain, then by word; only words with a gain."""
    if not pairs:
        return []
    counts, vocabulary = _counted(pairs, words)
    n = len(pairs)
    weights = _weights(counts[:n], counts[n:])
    captions, foils = (np.asarray(side_counts.sum(axis=0)).ravel() for side_counts in (counts[:n], counts[n:]))
    gains = weights * (captions - foils)
    order = sorted(range(len(vocabulary)), key=lambda index: (-round(float(gains[index]), 6), vocabulary[index]))
    return [
        TellingWord(
            vocabulary[index], int(captions[index]), int(foils[index]), float(weights[index]), float(gains[index])
        )
        for index in order[:top]
        if gains[index] > SAME
    ]


@cache
def threads() -> ThreadpoolController:
    """Return the thread pools of the loaded libraries, cached because the search takes longer than a fit."""
    return ThreadpoolController()


def _counted(
    pairs: Texts, analyzer: Callable[[str], list[str]] = word_features, min_texts: int = 1
) -> tuple[sparse.csr_matrix, list[str]]:
    """Return (2n, vocabulary) counts: all captions, then all foils."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=analyzer, min_df=min_texts)
    texts = [caption for caption, _ in pairs] + [foil for _, foil in pairs]
    if not any(words(text) for text in texts):
        return sparse.csr_matrix((len(texts), 1)), [""]
    try:
        counts = vectorizer.fit_transform(texts).astype(np.float64)
    except ValueError:
        # No feature is in `min_texts` texts.
        return sparse.csr_matrix((len(texts), 1)), [""]
    return counts, list(vectorizer.get_feature_names_out())


def _weights(captions: sparse.csr_matrix, foils: sparse.csr_matrix) -> NDArray[np.float64]:
    from sklearn.linear_model import LogisticRegression

    labels = np.repeat([1, 0], [captions.shape[0], foils.shape[0]])
    # Its vectors are short: threads of the linear algebra would only delay each other.
    with threads().limit(limits=1, user_api="blas"):
        model = LogisticRegression(C=1.0, max_iter=1000).fit(sparse.vstack([captions, foils]), labels)
    return np.asarray(model.coef_[0])
