"""Measure how much the words of right and wrong texts differ: the Jensen-Shannon divergence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from evaluation.audit.records import without_labels
from foilworks.core.corpus.records import TextRecord
from foilworks.core.text.tokens import words

FLIPS = 200
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Divergence:
    """JS divergence (base 2) of the words of right and wrong texts. `chance`: its mean if both sides of each item were
    exchanged at random, `limit`: what 97.5 % of such exchanges stay below; `interval`: over resampled items."""

    js: float
    interval: list[float]
    chance: float
    limit: float


def divergence_of(records: Sequence[TextRecord], seed: int = 0) -> Divergence | None:
    """Return the lexical divergence of items without labels; None if a side has no words, or with fewer than two."""
    records = without_labels(records)
    vectorizer = CountVectorizer(analyzer=words)
    texts = [record.right for record in records] + [" ".join(record.wrongs) for record in records]
    if len(records) < 2 or not all(any(map(words, side)) for side in (texts[: len(records)], texts[len(records) :])):
        return None
    counts = vectorizer.fit_transform(texts).astype(np.float64)
    weights = np.array([1 / len(record.wrongs) for record in records])
    right = counts[: len(records)]
    wrong = sparse.csr_matrix(sparse.diags(weights) @ counts[len(records) :])
    generator = np.random.default_rng(seed)
    n = len(records)
    flips = [
        _divergence_of_exchange(right, wrong, generator.integers(0, 2, n).astype(np.float64)) for _ in range(FLIPS)
    ]
    draws = [
        _divergence_of_draw(right, wrong, generator.multinomial(n, np.full(n, 1 / n)).astype(np.float64))
        for _ in range(FLIPS)
    ]
    value = _js(*(np.asarray(side.sum(axis=0)).ravel() for side in (right, wrong)))
    # A resample lacks words, which adds to the divergence: only the spread of the draws is used.
    reach = 1.96 * float(np.std(draws, ddof=1))
    return Divergence(
        value,
        [max(0.0, value - reach), min(1.0, value + reach)],
        float(np.mean(flips)),
        float(np.quantile(flips, 0.975)),
    )


def _divergence_of_exchange(right: sparse.csr_matrix, wrong: sparse.csr_matrix, side: Floats) -> float:
    return _js(side @ right + (1 - side) @ wrong, (1 - side) @ right + side @ wrong)


def _divergence_of_draw(right: sparse.csr_matrix, wrong: sparse.csr_matrix, times: Floats) -> float:
    return _js(times @ right, times @ wrong)


def _js(right: Floats, wrong: Floats) -> float:
    shares = [side / max(side.sum(), 1.0) for side in (right, wrong)]
    middle = (shares[0] + shares[1]) / 2
    total = 0.0
    for share in shares:
        is_present = share > 0
        total += float((share[is_present] * np.log2(share[is_present] / middle[is_present])).sum()) / 2
    return float(np.sqrt(max(0.0, total)))
