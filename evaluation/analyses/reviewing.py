"""Summarize the decisions of reviewers, and the agreement of two reviewers who independently decided on the same foil.

Agreement is computed twice: over the four decisions, and over whether the text was accepted as it is. Different foils
are reviewed by different pairs of reviewers, so kappa is Fleiss' (raters are interchangeable), next to alpha and
percent agreement.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.analyses.agreement_data import alpha, fleiss_kappa, percent_agreement
from evaluation.metrics.intervals import DRAWS, SEED

VERSION = "2"
INPUT = "reviews"
DECISIONS = ("accept", "send_back", "drop", "fix")
# A fix means that the submitted text was not accepted as it is.
STANDS = {"accept": "as it is", "send_back": "not as it is", "drop": "not as it is", "fix": "not as it is"}
CODINGS = {"decision": {decision: decision for decision in DECISIONS}, "stands": STANDS}


@dataclass(frozen=True)
class ReviewFacts:
    """Reviews that counted: `first` (reviewer, decision, reasons); `pairs` (decision, second decision) on one foil.

    `items`: a code of the item of each pair's foil; without them, every pair is its own item. `unreviewed`: how many
    foils were accepted by rule because review sampling did not select them.
    """

    first: Sequence[tuple[str, str, tuple[str, ...]]] = ()
    pairs: Sequence[tuple[str, str]] = field(default_factory=tuple)
    unreviewed: int = 0
    items: Sequence[int] | None = None


def compute(reviews: ReviewFacts, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Count decisions, reasons and reviewers; compute the agreement of first and second reviewers under both codings.

    Foils of one item are drawn together: alpha's interval is over items.
    """
    decisions = Counter(decision for _, decision, _ in reviews.first)
    reasons = Counter(code for _, _, codes in reviews.first for code in codes)
    by_person: dict[str, Counter[str]] = {}
    for person, decision, _ in reviews.first:
        by_person.setdefault(person, Counter())[decision] += 1
    return {
        "n_reviewed": len(reviews.first),
        "n_unreviewed": reviews.unreviewed,
        "decisions": {name: decisions.get(name, 0) for name in DECISIONS},
        "reasons": dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))),
        "n_twice": len(reviews.pairs),
        "agreement": [_agreement(reviews, coding, draws, seed) for coding in CODINGS],
        "table": [
            {"first": first, **{second: reviews.pairs.count((first, second)) for second in DECISIONS}}
            for first in DECISIONS
        ],
        "people": [
            {"person": person, "n": counts.total(), **{name: counts.get(name, 0) for name in DECISIONS}}
            for person, counts in sorted(by_person.items(), key=lambda pair: (-pair[1].total(), pair[0]))
        ],
    }


def _agreement(reviews: ReviewFacts, coding: str, draws: int, seed: int) -> dict[str, Any]:
    codes, pairs = CODINGS[coding], reviews.pairs
    names = list(dict.fromkeys(codes.values()))
    counts = np.zeros((len(pairs), len(names)), dtype=np.int64)
    for row, pair in enumerate(pairs):
        for decision in pair:
            counts[row, names.index(codes[decision])] += 1
    items = None if reviews.items is None else np.array(reviews.items, dtype=np.int64)
    reliability = alpha(counts, items, draws=draws, seed=seed)
    return {
        "coding": coding,
        "n": len(pairs),
        "percent_agreement": percent_agreement(counts),
        "fleiss_kappa": fleiss_kappa(counts),
        "alpha": reliability.value,
        "alpha_ci": reliability.interval,
        "alpha_ci_undefined": reliability.undefined,
        "reason": reliability.reason,
    }
