"""Test whether a model may replace a vote, and correct shares over all items by its verdicts.

Per subtest, the alternative annotator test compares a model with each validator (Calderon et al. 2025). If nearly all
votes are equal, a constant answer passes as well: the same test on the most frequent answer shows that. Shares of valid
items are corrected by prediction-powered inference (Angelopoulos et al. 2023). No item gets its verdict from a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.analysis_inputs import NOBODY, Votes, coded
from evaluation.errors import EvaluationError
from evaluation.metrics.alternative_annotator import EPSILON, MIN_ANNOTATORS, Replacement, alternative_annotator
from evaluation.metrics.prediction_powered import corrected_share

VERSION = "1"
INPUT = "replacement"
ALL = "overall"
# With fewer, a corrected share is not reported.
MIN_JUDGED = 20

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ItemVerdicts:
    """n items. `valid`: 1, 0, or NaN without a verdict of people; `videos`: the source of each.

    `models`: per model, 1 if it chose the caption in each pair of the item, 0 if not, NaN without its verdict.
    `groups`: name of a subtest or a method -> its items, (n,).
    """

    valid: Floats
    videos: Sequence[str]
    groups: Mapping[str, NDArray[np.bool_]]
    models: Mapping[str, Floats]


@dataclass(frozen=True)
class ReplacementFacts:
    """The votes, the subtest of each unit, and each model's choice per unit: a code into CHOICES, or NOBODY."""

    votes: Votes
    subtests: Sequence[str]
    models: Mapping[str, Codes]
    items: ItemVerdicts | None = None


def compute(facts: ReplacementFacts, *, coding: str = "truth", epsilon: float = EPSILON) -> dict[str, Any]:
    """Return `tests`: a row per model and subtest; `annotators`: the model against each; `estimates` of shares.

    EvaluationError: epsilon outside 0 to 1, no votes, or no verdicts of a model.
    """
    if not 0.0 <= epsilon < 1.0:
        raise EvaluationError(f"epsilon: {epsilon:g} is out of range; give a share of 0 to below 1, such as 0.1")
    if not len(facts.votes.choice):
        raise EvaluationError("there are no votes yet; this report compares a model with validators")
    if not facts.models:
        raise EvaluationError("no model has given verdicts on the judged pairs; score a release, or give --verdicts")
    codes, categories = coded(facts.votes, coding)
    subtests = np.asarray(facts.subtests, dtype=object)
    names = list(dict.fromkeys(facts.subtests))
    groups = {name: subtests == name for name in names} if len(names) > 1 else {}
    groups[ALL] = np.ones(len(subtests), dtype=bool)
    tests, annotators = [], []
    for model, choice in facts.models.items():
        verdicts = np.where(choice == NOBODY, NOBODY, np.minimum(choice, len(categories) - 1))
        for group, members in groups.items():
            row, compared = _test(facts.votes, codes, categories, verdicts, members, epsilon)
            tests.append({"model": model, "subtest": group, **row})
            annotators += [{"model": model, "subtest": group, **comparison} for comparison in compared]
    return {
        "coding": coding,
        "epsilon": epsilon,
        "tests": tests,
        "annotators": annotators,
        "estimates": _estimates(facts.items) if facts.items else [],
    }


def _test(
    votes: Votes, codes: Codes, categories: Sequence[str], verdicts: Codes, members: NDArray[np.bool_], epsilon: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    is_judged = members[votes.unit] & (verdicts[votes.unit] != NOBODY)
    unit, people, codes_used = votes.unit[is_judged], votes.annotator[is_judged], codes[is_judged]
    replacement = alternative_annotator(unit, people, codes_used, verdicts, epsilon=epsilon)
    most = int(np.bincount(codes_used, minlength=len(categories)).argmax())
    constant = alternative_annotator(
        unit, people, codes_used, np.where(verdicts == NOBODY, NOBODY, most), epsilon=epsilon
    )
    row = {
        "conclusion": conclusion(replacement, constant),
        "n_units": len(np.unique(unit)),
        "n_annotators": len(replacement.comparisons),
        "n_skipped": replacement.skipped,
        "winning_rate": replacement.winning_rate,
        "advantage": replacement.advantage,
        "advantage_of_people": _mean([comparison.person for comparison in replacement.comparisons]),
        "constant": categories[most],
        "winning_rate_of_constant": constant.winning_rate,
        "share_of_constant": float((codes_used == most).mean()) if len(codes_used) else None,
    }
    compared = [
        {
            "annotator": votes.annotator_names[comparison.annotator],
            "n": comparison.n,
            "model_wins": comparison.model,
            "annotator_wins": comparison.person,
            "p": comparison.p,
            "replaced": comparison.better,
        }
        for comparison in replacement.comparisons
    ]
    return row, compared


def conclusion(replacement: Replacement, constant: Replacement) -> str:
    """Return `passes`, `fails`, `uniform` if a constant answer passes as well, or `too_few` people or units."""
    if replacement.passes is None or len(replacement.comparisons) < MIN_ANNOTATORS:
        return "too_few"
    if not replacement.passes:
        return "fails"
    return "uniform" if constant.passes else "passes"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _estimates(items: ItemVerdicts) -> list[dict[str, Any]]:
    """Return a row per model and group with verdicts on all judged items and on some others.

    If a model lacks verdicts on judged items, the others with verdicts may be of another kind, so there is no row.
    """
    rows = []
    videos = np.asarray(items.videos, dtype=object)
    judged = ~np.isnan(items.valid)
    for model, verdicts in items.models.items():
        for group, members in items.groups.items():
            in_sample, unjudged = members & judged, members & ~judged & ~np.isnan(verdicts)
            if in_sample.sum() < MIN_JUDGED or unjudged.sum() < 2 or np.isnan(verdicts[in_sample]).any():
                continue
            share = corrected_share(
                items.valid[in_sample],
                verdicts[in_sample],
                verdicts[unjudged],
                videos[in_sample].tolist(),
                videos[unjudged].tolist(),
            )
            rows.append({"model": model, "group": group, **share.plain()})
    return rows
