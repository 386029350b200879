"""Compute the agreement of validators under a named coding (ViLMA, Sec. B.1 and Table 4).

`truth`: caption, foil, neither, both, cannot tell. `truth3`: caption, foil, other. `shown`: the raw answers by
position (first, second, neither, both, cannot tell), the nearest to the published values. Formulas:
docs/reference/formulas.md#metric-alpha.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.agreement_data import alpha, fleiss_kappa, percent_agreement
from evaluation.analyses.analysis_inputs import ALL_VOTES, NOBODY, Votes, coded, compared_part, tallied
from evaluation.metrics.intervals import DRAWS, SEED, wilson

VERSION = "5"
INPUT = "votes"
# 500 annotators form up to 124,750 pairs; a page shows the pairs with the most shared units.
MAX_PAIRS = 200

Codes = NDArray[np.int64]


def compute(votes: Votes, *, coding: str = "truth", draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute alpha with a bootstrap interval over items, kappa, pairwise agreement, and rows per pair and annotator.

    If votes stop early, all values are of the pairs judged in full; `basis` says so. An undefined alpha is None, and
    `reason` says why. EvaluationError if the votes do not support the coding.
    """
    n_all = len(votes.choice)
    votes, basis = compared_part(votes)
    codes, categories = coded(votes, coding)
    counts = tallied(votes, codes, len(categories))
    reliability = alpha(counts, votes.unit_items, draws=draws, seed=seed)
    return {
        "coding": coding,
        **({} if basis == ALL_VOTES else {"basis": basis, "n_votes_left_out": n_all - len(votes.choice)}),
        "alpha": reliability.value,
        "alpha_ci": reliability.interval,
        "alpha_ci_undefined": reliability.undefined,
        "reason": reliability.reason,
        "fleiss_kappa": fleiss_kappa(counts),
        "percent_agreement": percent_agreement(counts),
        "n_items": votes.n_items,
        "n_votes": len(votes.choice),
        "n_units": len(np.unique(votes.unit)),
        "n_units_used": int((counts.sum(axis=1) >= 2).sum()),
        "n_annotators": len(votes.annotator_names),
        "choices": {name: int(total) for name, total in zip(categories, counts.sum(axis=0), strict=True)},
        "pairs": _pairs(votes, codes),
        "annotators": _against_majority(votes, codes, counts),
        "guidelines": _by_guideline(votes, codes, len(categories), draws, seed),
    }


def _by_guideline(votes: Votes, codes: Codes, n_categories: int, draws: int, seed: int) -> list[dict[str, Any]]:
    """Compute the same for the votes under each version of the guidelines, by version name; [] if there is only one.

    Votes under different versions answer different questions, so a vote is compared only with votes of its version.
    """
    if votes.guideline is None or len(votes.guideline_names) < 2:
        return []
    reports = []
    for at, name in enumerate(votes.guideline_names):
        in_version = votes.guideline == at
        counts = np.zeros((len(votes.unit_names), n_categories), dtype=np.int64)
        np.add.at(counts, (votes.unit[in_version], codes[in_version]), 1)
        reliability = alpha(counts, votes.unit_items, draws=draws, seed=seed)
        reports.append(
            {
                "guideline": name,
                "n_votes": int(in_version.sum()),
                "n_units_used": int((counts.sum(axis=1) >= 2).sum()),
                "alpha": reliability.value,
                "alpha_ci": reliability.interval,
                "alpha_ci_undefined": reliability.undefined,
                "reason": reliability.reason,
                "percent_agreement": percent_agreement(counts),
            }
        )
    return reports


def _pairs(votes: Votes, codes: Codes) -> list[dict[str, Any]]:
    """Return, per pair of annotators, the units both judged and their share of agreement; most shared units first."""
    by_person = np.flatnonzero(votes.annotator != NOBODY)
    order = by_person[np.lexsort((votes.annotator[by_person], votes.unit[by_person]))]
    unit, annotator, code = votes.unit[order], votes.annotator[order], codes[order]
    people = len(votes.annotator_names)
    keys: list[Codes] = []
    agreements: list[NDArray[np.bool_]] = []
    for step in range(1, int(np.bincount(unit).max(initial=0))):
        together = unit[step:] == unit[:-step]
        keys.append((annotator[:-step] * people + annotator[step:])[together])
        agreements.append((code[:-step] == code[step:])[together])
    if not keys:
        return []
    pair, pair_index = np.unique(np.concatenate(keys), return_inverse=True)
    shared = np.bincount(pair_index)
    agreed = np.bincount(pair_index, weights=np.concatenate(agreements).astype(np.float64))
    largest = np.lexsort((pair, -shared))[:MAX_PAIRS]
    return [
        {
            "annotators": [votes.annotator_names[pair[k] // people], votes.annotator_names[pair[k] % people]],
            "n": int(shared[k]),
            "agreement": float(agreed[k] / shared[k]),
        }
        for k in largest
    ]


def _against_majority(votes: Votes, codes: Codes, counts: Codes) -> list[dict[str, Any]]:
    """Return, per annotator, the share of votes that match the majority of the other votes on the unit."""
    own_votes = np.zeros((len(codes), counts.shape[1]), dtype=np.int64)
    own_votes[np.arange(len(codes)), codes] = 1
    other_votes = counts[votes.unit] - own_votes
    best = other_votes.argmax(axis=1)
    decided = other_votes.max(axis=1) * 2 > other_votes.sum(axis=1)
    people = len(votes.annotator_names)
    by_person = votes.annotator != NOBODY
    total = np.bincount(votes.annotator[by_person & decided], minlength=people)
    right = np.bincount(votes.annotator[by_person & decided & (best == codes)], minlength=people)
    n_votes = np.bincount(votes.annotator[by_person], minlength=people)
    return [
        {
            "annotator": name,
            "n_votes": int(n_votes[k]),
            "n": int(total[k]),
            "agreement": float(right[k] / total[k]) if total[k] else None,
            "ci": wilson(int(right[k]), int(total[k])),
        }
        for k, name in enumerate(votes.annotator_names)
    ]
