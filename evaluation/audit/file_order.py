"""Test whether a language model has seen a published file: it then finds the file's own order likelier than others.

The sharded likelihood comparison test (Oren et al. 2023). Under the null hypothesis the
order of the file says nothing to a model, so that it is one more shuffle. This holds only for a file whose order was
random when it was published; the words of adjacent records show whether it does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from foilworks.core.corpus.records import TextRecord
from foilworks.core.text.tokens import words

# Characters of one shard, which the context of small models holds, and the fewest records in it.
SHARD_CHARACTERS, MIN_RECORDS = 1_500, 4
MAX_SHARDS, MIN_SHARDS, N_SHUFFLES = 60, 10, 25
# Errors of the two tests.
ALPHA = 0.01
Floats = NDArray[np.float64]
# Texts -> scores, higher is likelier.
Scorer = Callable[[Sequence[str]], Sequence[float]]
Answer = Literal["seen", "not shown", "sorted", "too few"]


@dataclass(frozen=True)
class OrderResult:
    """What the order of a file says of the model `name`.

    `gap`: mean over shards of the score in the file's order minus the mean of shuffles, in nats per token; `p`: of a
    one-sided t test over shards; `p_sorted`: of the words that adjacent records share, the alphabet and the length,
    without a model (Bonferroni).
    """

    name: str
    answer: Answer
    n_shards: int
    n_records: int
    gap: float
    p: float
    p_sorted: float


def compare_orders(
    records: Sequence[TextRecord], name: str, scorer: Scorer, n_shuffles: int = N_SHUFFLES, seed: int = 0
) -> OrderResult:
    """Compare the order of n records, as in their file, with `n_shuffles` random orders in each shard.

    It scores `(1 + n_shuffles) * shards` texts. "sorted": the words show that the order is not random, so that the test
    would accuse any model. "too few": under `MIN_SHARDS` shards.
    """
    shards = shards_of([_text_of(record) for record in records])
    n_records = sum(map(len, shards))
    if len(shards) < MIN_SHARDS:
        return OrderResult(name, "too few", len(shards), n_records, 0.0, 1.0, 1.0)
    generator = np.random.default_rng(seed)
    orders = [[np.arange(len(shard)), *_shuffles(len(shard), n_shuffles, generator)] for shard in shards]
    overlap = np.array(
        [[_overlap([shard[at] for at in order]) for order in rows] for shard, rows in zip(shards, orders, strict=True)]
    )
    p_sorted = min(1.0, 3 * min(_compare(overlap)[1], *_trends(records)))
    if p_sorted < ALPHA:
        return OrderResult(name, "sorted", len(shards), n_records, 0.0, 1.0, p_sorted)
    texts = ["\n".join(shard[at] for at in order) for shard, rows in zip(shards, orders, strict=True) for order in rows]
    gap, p = _compare(np.array(scorer(texts)).reshape(len(shards), 1 + n_shuffles))
    return OrderResult(name, "seen" if p < ALPHA else "not shown", len(shards), n_records, gap, p, p_sorted)


def shards_of(texts: Sequence[str]) -> list[list[str]]:
    """Return at most `MAX_SHARDS` runs of consecutive texts, evenly spread over the file.

    Each has at least `MIN_RECORDS` texts, of at most `SHARD_CHARACTERS` characters in all.
    """
    shards: list[list[str]] = []
    shard: list[str] = []
    for text in texts:
        if sum(map(len, shard)) + len(text) > SHARD_CHARACTERS:
            shards.append(shard)
            shard = []
        shard.append(text)
    shards = [row for row in [*shards, shard] if len(row) >= MIN_RECORDS and sum(map(len, row)) <= SHARD_CHARACTERS]
    if len(shards) > MAX_SHARDS:
        shards = [shards[at] for at in np.linspace(0, len(shards) - 1, MAX_SHARDS).round().astype(int)]
    return shards


def _trends(records: Sequence[TextRecord]) -> tuple[float, float]:
    """Return p values of Spearman's correlation of the row with the place in the alphabet and with the length."""
    texts = [f"{record.question} {record.right}".casefold() for record in records]
    rank = {text: at for at, text in enumerate(sorted(set(texts)))}
    rows = np.arange(len(texts))
    series = [[rank[text] for text in texts], [len(text) for text in texts]]
    p_values = [1.0 if len(set(row)) < 2 else float(scipy.stats.spearmanr(rows, row).pvalue) for row in series]
    return p_values[0], p_values[1]


def _text_of(record: TextRecord) -> str:
    options = sorted([record.right, *record.wrongs])
    return " ".join([*([record.question] if record.question else []), *options])


def _shuffles(size: int, number: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return orders other than that of the file."""
    orders: list[NDArray[np.int64]] = []
    while len(orders) < number:
        order = generator.permutation(size)
        if (order != np.arange(size)).any():
            orders.append(order)
    return orders


def _overlap(texts: Sequence[str]) -> float:
    """Return the mean share of words that a text has in common with the one before it."""
    rows = [set(words(text)) for text in texts]
    return float(np.mean([len(row & last) / max(1, len(row | last)) for last, row in pairwise(rows)]))


def _compare(values: Floats) -> tuple[float, float]:
    """Return the mean gap and its p value of (shards, 1 + shuffles) values, the first of each in the file's order."""
    gaps = values[:, 0] - values[:, 1:].mean(axis=1)
    if np.allclose(gaps, gaps[0]):
        return float(gaps.mean()), 1.0
    return float(gaps.mean()), float(scipy.stats.ttest_1samp(gaps, 0.0, alternative="greater").pvalue)
