"""Measure answers without options: exact match for words, mean relative accuracy for numbers, a judge's verdicts. Pure.

docs/reference/formulas.md#metric-open
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, mean, mean_intervals
from foilworks.core.text.language.numbers import VALUES
from foilworks.core.text.model_answers import without_thoughts

Floats = NDArray[np.float64]
VERSION = "1"
INPUT = "open"
EXACT, MRA, JUDGE = "exact match", "mean relative accuracy", "judge model"
# A relative error counts at k / 20 for k = 1..10: thresholds .5, .55, …, .95 (VSI-Bench).
STEPS, PARTS = range(1, 11), 20
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[+-]?\.\d+")
_ARTICLES = frozenset({"a", "an", "the"})
MAX_DIGITS = 30
# Of the answers that are tried as the same answer to all questions.
MAX_CONSTANTS = 2_000


@dataclass(frozen=True)
class OpenAnswers:
    """n answers. `references`: the right ones; a reference that is a number asks for a number. `kinds`: types of
    questions; `clusters`: source videos. `judged`: 1 right, 0 wrong by a judge, NaN without a verdict; empty without a
    judge."""

    ids: Sequence[str]
    answers: Sequence[str]
    references: Sequence[str]
    kinds: Sequence[str]
    clusters: Sequence[str]
    judged: Floats = field(default_factory=lambda: np.empty(0))


def number_in(text: str) -> Fraction | None:
    """Return the number that a text names: the only one in it, in digits or as a word to ninety; None otherwise."""
    numbers = [Fraction(found.replace(",", "")) for found in _NUMBER.findall(text) if len(found) <= MAX_DIGITS]
    if not numbers:
        numbers = [Fraction(VALUES[word]) for word in plain(text, articles=True).split() if word in VALUES]
    return numbers[0] if len(set(numbers)) == 1 else None


def reference_number(text: str) -> Fraction | None:
    """Return the number if a reference is nothing else."""
    text = text.strip()
    is_number = len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text) is not None
    return Fraction(text.replace(",", "")) if is_number else None


def relative_accuracy(answer: Fraction, reference: Fraction, *, closed: bool = False) -> float:
    """Return the share of thresholds that the relative error is below (Yang et al. 2024), exactly.

    `closed`: an error equal to a threshold counts, as in the released code. A reference of 0 asks for 0.
    """
    if reference == 0:
        return float(answer == 0)
    error = abs(answer - reference) * PARTS
    bounds = [abs(reference) * step for step in STEPS]
    return sum(error <= bound if closed else error < bound for bound in bounds) / len(bounds)


def plain(text: str, *, articles: bool = False) -> str:
    """Return a text for exact match: lower case, without punctuation and articles, blanks joined."""
    lowered = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(" " if unicodedata.category(char)[0] in "PSZC" else char for char in lowered)
    return " ".join(word for word in letters.split() if articles or word not in _ARTICLES)


def credit(answer: str, reference: str) -> tuple[str, float | None]:
    """Return the metric of a reference, and the credit of an answer in 0..1; None if it is empty or has no number.

    Thoughts are removed; an answer that is cut off inside a thought is empty.
    """
    text, is_open = without_thoughts(answer)
    text = "" if is_open else text.strip()
    right = reference_number(reference)
    if right is None:
        return EXACT, float(plain(text) == plain(reference) != "") if text else None
    number = number_in(text)
    return MRA, None if number is None else relative_accuracy(number, right)


def compute(data: OpenAnswers, *, draws: int = DRAWS) -> dict[str, Any]:
    """Compute one group per metric, and per type of question within it; metrics are never averaged together.

    `value` leaves answers out that are empty or have no number, `all_wrong` counts them as wrong. `constant`: the value
    of the best answer that is the same for all questions of a type; `released_code`: mean relative accuracy with equal
    errors.
    """
    if not len(data.ids):
        raise EvaluationError("there are no answers; give at least one")
    metrics, credits = zip(*map(credit, data.answers, data.references), strict=True)
    values = np.array([np.nan if value is None else value for value in credits], dtype=np.float64)
    groups = []
    for metric in (EXACT, MRA):
        chosen = np.array([name == metric for name in metrics])
        if chosen.any():
            groups.append({**_group(metric, values, chosen, data, draws), **_beside(metric, chosen, data)})
    if len(data.judged):
        judged_rows = np.array([name == EXACT for name in metrics])
        if judged_rows.any():
            groups.append(_group(JUDGE, data.judged, judged_rows, data, draws))
    return {"groups": groups, "n": len(data.ids)}


def _group(metric: str, values: Floats, chosen: NDArray[np.bool_], data: OpenAnswers, draws: int) -> dict[str, Any]:
    rows = {"metric": metric, **_value(values[chosen], _of(data.clusters, chosen), draws)}
    kinds = dict.fromkeys(_of(data.kinds, chosen))
    if len(kinds) < 2:
        return {**rows, "kinds": {}}
    by_kind = {}
    for kind in kinds:
        own = chosen & np.array([name == kind for name in data.kinds])
        by_kind[kind] = _value(values[own], _of(data.clusters, own), draws)
    return {**rows, "kinds": by_kind}


def _value(values: Floats, clusters: Sequence[str], draws: int) -> dict[str, Any]:
    is_read = ~np.isnan(values)
    n, n_unread = int(is_read.sum()), int((~is_read).sum())
    if not n:
        return {"value": None, "ci": None, "n": 0, "n_unread": n_unread, "all_wrong": 0.0}
    (interval,) = mean_intervals(values[is_read][:, None], _of(clusters, is_read), draws=draws)
    found = {"value": mean(values[is_read]), "ci": interval, "n": n, "n_unread": n_unread}
    return {**found, "all_wrong": float(np.nansum(values) / len(values))}


def _beside(metric: str, chosen: NDArray[np.bool_], data: OpenAnswers) -> dict[str, Any]:
    references, kinds = _of(data.references, chosen), _of(data.kinds, chosen)
    by_kind: dict[str, list[str]] = {}
    for reference, kind in zip(references, kinds, strict=True):
        by_kind.setdefault(kind, []).append(reference)
    total = sum(best_constant(metric, texts)[1] * len(texts) for texts in by_kind.values())
    row: dict[str, Any] = {"constant": total / len(references)}
    if metric == MRA:
        row["released_code"] = _closed(data, chosen)
    return row


def best_constant(metric: str, references: Sequence[str]) -> tuple[str, float]:
    """Return the reference that is best as the answer to all questions, and its mean credit."""
    counts = Counter(plain(text) if metric == EXACT else text.strip() for text in references)
    if metric == EXACT:
        text, count = counts.most_common(1)[0]
        return text, count / len(references)
    texts = [text for text, _count in counts.most_common(MAX_CONSTANTS)]
    values = constant_credits(metric, texts, texts) @ np.array([counts[text] for text in texts]) / len(references)
    return texts[int(np.argmax(values))], float(values.max())


def constant_credits(metric: str, answers: Sequence[str], references: Sequence[str]) -> Floats:
    """Return (m, n) credits of m answers, each given to n questions; under mean relative accuracy, all are numbers."""
    if metric == EXACT:
        rights = np.array([plain(text) for text in references])
        return (np.array([[plain(text)] for text in answers]) == rights[None]).astype(np.float64)
    numbers = [[reference_number(text) or Fraction(0) for text in texts] for texts in (answers, references)]
    scale = lcm(*(number.denominator for row in numbers for number in row))
    whole = [[int(number * scale) for number in row] for row in numbers]
    # Exact unless numbers are very long.
    kind = np.int64 if max(abs(number) for row in whole for number in row) < 2**55 else np.float64
    given, rights = np.array(whole[0], kind)[:, None], np.array(whole[1], kind)[None]
    errors = np.abs(given - rights) * PARTS
    credits = sum((errors < np.abs(rights) * step).astype(np.float64) for step in STEPS) / len(STEPS)
    return np.where(rights == 0, given == 0, credits)


def _closed(data: OpenAnswers, chosen: NDArray[np.bool_]) -> float | None:
    pairs = [
        (number_in(without_thoughts(answer)[0]), reference_number(reference))
        for answer, reference in zip(_of(data.answers, chosen), _of(data.references, chosen), strict=True)
    ]
    credits = [
        relative_accuracy(number, right, closed=True)
        for number, right in pairs
        if number is not None and right is not None
    ]
    return float(np.mean(credits)) if credits else None


def _of(names: Sequence[str], chosen: NDArray[np.bool_]) -> list[str]:
    return [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]


def agreement_counts(judge: Mapping[str, bool], people: Mapping[str, Sequence[bool]]) -> NDArray[np.int64]:
    """Return (units, 2) counts of wrong and right: the judge's verdict and the majority of people, of each answer that
    both judged. An answer on which people are split evenly does not count."""
    rows = []
    for key, votes in people.items():
        n_right = sum(votes)
        if key in judge and 2 * n_right != len(votes):
            verdicts = (judge[key], 2 * n_right > len(votes))
            rows.append([verdicts.count(False), verdicts.count(True)])
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
