"""Measure answers that have probabilities or samples: calibration, selective accuracy, majority and pass@k. Pure.

docs/reference/formulas.md#metric-answers
"""

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Bins of equal width (Guo et al. 2017), and the shares of items that a model is most certain about.
BINS, COVERAGES = 10, (0.25, 0.5, 0.75, 1.0)
TOKEN_BINS = 4


def calibration(probabilities: Floats, outcomes: Floats) -> dict[str, Any] | None:
    """Return the expected calibration error, the Brier score and n of (m,) probabilities of yes and (m,) outcomes of 0
    or 1; None without any."""
    if not len(probabilities):
        return None
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, outcomes - probabilities, minlength=BINS)
    return {
        "ece": float(np.abs(gaps).sum() / len(probabilities)),
        "brier": float(np.mean((probabilities - outcomes) ** 2)),
        "n": len(probabilities),
    }


def selective(certainty: Floats, credit: Floats) -> list[dict[str, float]]:
    """Return the accuracy over the most certain share of the items, per coverage; (n,) certainty and credit. Items of
    equal certainty count in equal parts."""
    order = np.argsort(-certainty, kind="stable")
    levels, groups = np.unique(-certainty[order], return_inverse=True)
    mean_credit = np.bincount(groups, credit[order]) / np.bincount(groups)
    fair = mean_credit[groups]
    rows = []
    for coverage in COVERAGES if len(levels) else ():
        n = max(1, round(coverage * len(credit)))
        rows.append({"coverage": coverage, "n": n, "accuracy": float(fair[:n].mean())})
    return rows


def pass_at(n: int, right: int, k: int) -> float:
    """Return the probability that at least one of k samples is right, from `right` of n (unbiased)."""
    return 1.0 - comb(n - right, k) / comb(n, k)


def sampled(counts: Sequence[tuple[int, int, int]], chances: Sequence[float]) -> dict[str, Any] | None:
    """Return majority and pass@k of items with (samples, those for the right text, the most for another text).

    `chances`: of a guess to be right, per item. `luck`: pass@k of a model that guesses. None without samples.
    """
    if not counts:
        return None
    k = min(n for n, _, _ in counts)
    return {
        "k": k,
        "n": len(counts),
        "majority": float(np.mean([(1 + np.sign(right - most)) / 2 for _, right, most in counts])),
        "pass": float(np.mean([pass_at(n, right, k) for n, right, _ in counts])),
        "luck": float(np.mean([1.0 - (1.0 - chance) ** k for chance in chances])),
    }


def by_tokens(tokens: Floats, credit: Floats) -> list[dict[str, Any]]:
    """Return the accuracy of items in groups of equal size, ordered by their number of tokens; (n,) each."""
    order = np.argsort(tokens, kind="stable")
    return [
        {
            "fewest": float(tokens[some[0]]),
            "most": float(tokens[some[-1]]),
            "n": len(some),
            "accuracy": float(credit[some].mean()),
        }
        for some in np.array_split(order, min(TOKEN_BINS, len(order)))
        if len(some)
    ]
