"""Try to solve items from their texts alone: words, word n-grams, a language model, length.

A probe gives each pair the gap of the scores of its right and wrong text. A pair counts 1 if the right text scores
higher, .5 if both score the same. An item with several wrong texts counts 1 if its right text scores highest, and its
part of 1 if several texts do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from evaluation.audit.groups import groups_of
from evaluation.audit.records import (
    LABEL,
    LONGEST,
    NGRAMS,
    SEPARATOR,
    SHORTEST,
    WORDS,
    AuditRecord,
    chance_of,
    has_choices,
    without_labels,
)
from evaluation.metrics.intervals import mean, mean_intervals
from foilworks.core.text.tokens import word_features, words
from generation.balance.classifier import SAME, held_out_gaps

MAX_N = 3
# An n-gram of one text teaches nothing about others.
MIN_TEXTS = 2
DRAWS = 2_000
FLIPS = 200
# Words that open a question: what it asks for.
OPENING = 2
START, END = "<s>", "</s>"

Floats = NDArray[np.float64]
# Texts -> scores, higher is likelier.
Scorer = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class ProbeResult:
    """The share of right answers of one probe. `unit`: pairs, labels, or choices among all options."""

    probe: str
    unit: str
    value: float
    interval: list[float] | None
    chance: float
    n: int
    n_groups: int

    @property
    def skill(self) -> float:
        """Return the part of the way from chance to 1, negative below chance; 0 if chance is 1."""
        return (self.value - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0


def texts_of(record: AuditRecord) -> list[str]:
    """Return the right text, then the wrong ones, each behind its question if there is one."""
    before = f"{record.question}{LABEL if record.is_label else SEPARATOR}" if record.question else ""
    return [before + text for text in (record.right, *record.wrongs)]


def solve_by_words(records: Sequence[AuditRecord], seed: int = 0) -> ProbeResult | None:
    """Return what a bag-of-words classifier solves when trained on the other folds; None with fewer than 2 groups."""
    return _by_classifier(WORDS, records, word_features_of, 1, seed)


def solve_by_ngrams(records: Sequence[AuditRecord], seed: int = 0) -> ProbeResult | None:
    """Return what a classifier on sequences of 1 to 3 words solves: it sees the order of words, and fluency."""
    return _by_classifier(NGRAMS, records, ngrams_of, MIN_TEXTS, seed)


def _by_classifier(
    probe: str, records: Sequence[AuditRecord], analyzer: Callable[[str], list[str]], min_texts: int, seed: int
) -> ProbeResult | None:
    groups = groups_of(records)
    pairs = [(texts[0], wrong) for record in records for texts in [texts_of(record)] for wrong in texts[1:]]
    of_pairs = [group for group, record in zip(groups, records, strict=True) for _ in record.wrongs]
    gaps = held_out_gaps(pairs, of_pairs, analyzer, seed=seed, min_texts=min_texts)
    return None if gaps is None else solved(probe, records, gaps, groups)


def word_features_of(text: str) -> list[str]:
    """List the features of words (foilworks.core.text.tokens.word_features), and those of an answer with the opening
    of its question. Of a labelled text, list its words with the label: which words are said of what is true."""
    if LABEL in text:
        return _with_label(text, word_features)
    question, _, answer = text.rpartition(SEPARATOR)
    return [*word_features(answer), *_after_question(question, answer)]


def ngrams_of(text: str) -> list[str]:
    """List the sequences of 1 to `MAX_N` words, with marks for the start and the end."""
    if LABEL in text:
        return _with_label(text, _sequences)
    question, _, answer = text.rpartition(SEPARATOR)
    return [*_sequences(answer), *_after_question(question, answer)]


def _sequences(text: str) -> list[str]:
    row = [START, *words(text), END]
    return [" ".join(row[at : at + n]) for n in range(1, MAX_N + 1) for at in range(len(row) - n + 1)]


def _with_label(text: str, features: Callable[[str], list[str]]) -> list[str]:
    labelled, _, label = text.rpartition(LABEL)
    return [label, *(f"{label}{LABEL}{feature}" for feature in features(labelled))]


def _after_question(question: str, answer: str) -> list[str]:
    if not question:
        return []
    opening = " ".join(words(question)[:OPENING])
    return [f"{opening}{SEPARATOR}{word}" for word in words(answer)]


def solve_by_model(records: Sequence[AuditRecord], name: str, scores: Mapping[str, float]) -> ProbeResult | None:
    """Return what a language model solves that has scored `texts_for_model`; None without records."""
    gaps = [
        scores[right] - scores[wrong]
        for record in records
        for right, *wrongs in [texts_for_model(record)]
        for wrong in wrongs
    ]
    return solved(name, records, np.array(gaps), groups_of(records)) if gaps else None


def texts_for_model(record: AuditRecord) -> list[str]:
    """Return the texts of a record as a language model reads them: after the question, if there is one."""
    return [text.replace(SEPARATOR, " ").replace(LABEL, " ") for text in texts_of(record)]


def solve_by_length(records: Sequence[AuditRecord]) -> ProbeResult | None:
    """Return what is solved by always choosing the longest text, or the shortest if that solves more.

    None with labels only, which have no length.
    """
    records = without_labels(records)
    if not records:
        return None
    groups = groups_of(records)
    sizes = [[len(words(text)) for text in (record.right, *record.wrongs)] for record in records]
    gaps = np.array([float(right - wrong) for right, *wrongs in sizes for wrong in wrongs])
    longest, shortest = solved(LONGEST, records, gaps, groups), solved(SHORTEST, records, -gaps, groups)
    return longest if longest.value >= shortest.value else shortest


def solved(probe: str, records: Sequence[AuditRecord], gaps: Floats, groups: Sequence[str]) -> ProbeResult:
    """Return the share of right answers: of pairs, or of choices if an item has several wrong texts."""
    credit = choice_credits(gaps, [len(record.wrongs) for record in records])
    (interval,) = mean_intervals(credit[:, None], groups, draws=DRAWS)
    return ProbeResult(
        probe=probe,
        unit="choices" if has_choices(records) else ("pairs" if without_labels(records) else "labels"),
        value=mean(credit),
        interval=interval,
        chance=chance_of(records),
        n=len(records),
        n_groups=len(set(groups)),
    )


def choice_credits(gaps: Floats, sizes: Sequence[int]) -> Floats:
    """Return (items,) credits from the gaps of their pairs, in order: 1 / (number of best texts), 0 if a wrong text is
    best."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    lost = np.add.reduceat((gaps < -SAME).astype(np.int64), starts)
    ties = np.add.reduceat((np.abs(gaps) <= SAME).astype(np.int64), starts)
    return np.where(lost > 0, 0.0, 1.0 / (1 + ties))


@dataclass(frozen=True)
class Divergence:
    """JS divergence (base 2) of the words of right and wrong texts. `chance`: its mean if both sides of each item were
    exchanged at random, `limit`: what 97.5 % of such exchanges stay below; `interval`: over resampled items."""

    js: float
    interval: list[float]
    chance: float
    limit: float


def divergence_of(records: Sequence[AuditRecord], seed: int = 0) -> Divergence | None:
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
