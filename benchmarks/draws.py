"""Simulate ways to draw foils: how often does a solver of words answer them, or one that gives the opposite answer?

    .venv/bin/python -m benchmarks.draws --captions 1000 --runs 100

Each caption has one of 10 to 200 words, which are opposites in pairs. Frequent pairs and frequent words differ by
chance. The solver sees four of five folds and gives the word of a pair that is true more often there; the other solver
gives the rarer one. Printed per way and number of words: the foils, and how often each solver is right.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from generation.balance.balanced_pairs import Pair, selected_pairs
from generation.balance.draw import draw
from generation.balance.opposites import replacement_of

N_FOLDS = 5
Way = Callable[[Sequence[Pair], int], Sequence[Pair]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--captions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--words", type=int, nargs="+", default=[10, 20, 50, 100, 200])
    options = parser.parse_args()
    print("| way | words | foils | words solver | opposite solver |\n|---|--:|--:|--:|--:|")
    for name, way in WAYS.items():
        for n_words in options.words:
            rows = [_simulate(way, options.captions, n_words, seed) for seed in range(options.runs)]
            foils, right, opposite = np.mean(rows, axis=0)
            print(f"| {name} | {n_words} | {foils:.0f} | {right:.1%} | {opposite:.1%} |", flush=True)


def _simulate(way: Way, n_captions: int, n_words: int, seed: int) -> tuple[float, float, float]:
    pairs = way(_captions(n_captions, n_words, random.Random(seed)), seed)
    sides = defaultdict(list)
    for number, pair in enumerate(pairs):
        row = replacement_of(pair)
        sides[row.opposites].append((number % N_FOLDS, row.is_first))
    credits: Counter[str] = Counter()
    for rows in sides.values():
        for fold, is_first in rows:
            known = [1 if other else -1 for other_fold, other in rows if other_fold != fold]
            gap = sum(known) * (1 if is_first else -1)
            credits["right"] += 2 if gap > 0 else int(gap == 0)
            credits["opposite"] += 2 if gap < 0 else int(gap == 0)
    total = 2 * max(1, len(pairs))
    return len(pairs), credits["right"] / total, credits["opposite"] / total


def _captions(n_captions: int, n_words: int, generator: random.Random) -> list[Pair]:
    """Return captions with foils. The k-th pair of opposites has a share of 1 / k, its first word one of .1 to .9."""
    n_pairs = n_words // 2
    numbers = generator.choices(range(n_pairs), [1 / (rank + 1) for rank in range(n_pairs)], k=n_captions)
    shares = [generator.uniform(0.1, 0.9) for _ in range(n_pairs)]
    pairs = []
    for index, number in enumerate(numbers):
        side, other = "ab" if generator.random() < shares[number] else "ba"
        texts = [f"thing{index} moves w{number}{word}" for word in (side, other)]
        pairs.append(Pair(f"{index:05}", str(index), *texts))
    return pairs


def _all(pairs: Sequence[Pair], seed: int) -> Sequence[Pair]:
    del seed
    return pairs


def _quotas(pairs: Sequence[Pair], seed: int) -> Sequence[Pair]:
    """Return as many captions of either side of each pair of opposites."""
    sides = defaultdict(list)
    for pair in random.Random(seed).sample(pairs, len(pairs)):
        row = replacement_of(pair)
        sides[row.removed, row.inserted].append(pair)
    drawn = [pair for (side, other), rows in [*sides.items()] for pair in rows[: len(sides[other, side])]]
    return random.Random(seed).sample(drawn, len(drawn))


def _coins(pairs: Sequence[Pair], seed: int) -> Sequence[Pair]:
    drawn = selected_pairs(pairs, draw(pairs, seed=seed, by_context=False).selected)
    return random.Random(seed).sample(drawn, len(drawn))


WAYS: dict[str, Way] = {"none": _all, "exact quotas": _quotas, "fair coin": _coins}

if __name__ == "__main__":
    main()
