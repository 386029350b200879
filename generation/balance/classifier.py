"""Distinguish captions from foils by a bag-of-words classifier (docs/explanation/balance.md#blind-audit).

Logistic regression (C = 1) on counts of lower-cased words, and of the character n-grams inside words of scripts
without spaces (`foilworks.core.text.tokens.word_features`); a pair counts 1 if its caption scores above its foil, .5
if both scores are equal. `fitted` scores its training data: .5 if the words are balanced. Whether pairs can be solved
is the answer of `foilworks.core.solver`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from foilworks.core.text.tokens import word_features, words
from generation.balance.balanced_pairs import Texts

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


def _counted(pairs: Texts, analyzer: Callable[[str], list[str]] = word_features) -> tuple[sparse.csr_matrix, list[str]]:
    """Return (2n, vocabulary) counts: all captions, then all foils."""
    from foilworks.core.solver.scikit_learn import CountVectorizer

    vectorizer = CountVectorizer(analyzer=analyzer)
    texts = [caption for caption, _ in pairs] + [foil for _, foil in pairs]
    if not any(words(text) for text in texts):
        return sparse.csr_matrix((len(texts), 1)), [""]
    counts = vectorizer.fit_transform(texts).astype(np.float64)
    return counts, list(vectorizer.get_feature_names_out())


def _weights(captions: sparse.csr_matrix, foils: sparse.csr_matrix) -> NDArray[np.float64]:
    from foilworks.core.solver.scikit_learn import LogisticRegression

    labels = np.repeat([1, 0], [captions.shape[0], foils.shape[0]])
    # Its vectors are short: threads of the linear algebra would only delay each other.
    with threads().limit(limits=1, user_api="blas"):
        model = LogisticRegression(C=1.0, max_iter=1000).fit(sparse.vstack([captions, foils]), labels)
    return np.asarray(model.coef_[0])
