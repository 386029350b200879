"""Compare two runs of one release: the difference, its certainty, and the items on which they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import compare_credits
from evaluation.metrics.ranking import COLUMNS, ModelScores, scoped_credit
from evaluation.scoring.models import Run
from evaluation.scoring.queries import Record, release_scores
from evaluation.scoring.run_results import Axes, axes_of, credits_of, fingerprint_of, is_settled
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.text.quoting import quoted

VERSION = "3"
# Outcomes: only A is right, only B, both, neither, and a tie that earned partial credit.
OUTCOMES = ("only_a", "only_b", "both", "neither", "partial")


@dataclass(frozen=True)
class Comparison:
    """`columns`: {P+T, T, P: {"a", "b", "difference", "mcnemar", "items_to_separate"}}, shares over the items that both
    scored.

    `outcomes`: positions in the release by outcome of the chosen column.
    """

    columns: Mapping[str, Mapping[str, Any]]
    outcomes: Mapping[str, Sequence[int]]


def compare(a: Run, b: Run, column: str, scope: str = "overall") -> Comparison:
    """Compare A with B on their release; cached by the inputs of both runs' results.

    EvaluationError: runs of two releases, an unfinished run, an unknown column.
    """
    if a.release_id != b.release_id:
        raise EvaluationError("the two runs score different releases; compare runs of the same release")
    if not (is_settled(a) and is_settled(b)):
        raise EvaluationError("a run is not finished; compare when it has ended")
    if column not in COLUMNS:
        raise EvaluationError(f"unknown column {quoted(column)}; choose one of: {', '.join(COLUMNS)}")
    fingerprint = digest([VERSION, fingerprint_of(a), fingerprint_of(b)])
    subject = f"{a.pk}:{b.pk}:{column}:{scope}"
    data = cached_by_fingerprint(
        a.release.project, "compare", subject, fingerprint, lambda: _compared(a, b, column, scope)
    )
    return Comparison(**data)


def _compared(a: Run, b: Run, column: str, scope: str) -> dict[str, Any]:
    axes = axes_of(a.release)
    in_scope = axes.scope(scope)
    models = [_model(run, axes) for run in (a, b)]
    columns = {}
    for name in COLUMNS:
        credit_a, credit_b = (scoped_credit(model, name, in_scope) for model in models)
        if not (~(np.isnan(credit_a) | np.isnan(credit_b))).any():
            continue
        clusters = [axes.clusters[k] for k in np.flatnonzero(in_scope)]
        columns[name] = compare_credits(credit_a, credit_b, clusters)
    pair = [scoped_credit(model, column, in_scope) for model in models]
    return {"columns": columns, "outcomes": _outcomes(pair[0], pair[1], np.flatnonzero(in_scope))}


def _model(run: Run, axes: Axes) -> ModelScores:
    credit = credits_of(run, axes)
    return ModelScores(str(run.pk), credit.main, credit.proficiency, None)


def _outcomes(a: Any, b: Any, positions: Any) -> dict[str, list[int]]:
    """Return positions in the release by outcome; `positions` are those of the scope's credits."""
    scored = ~(np.isnan(a) | np.isnan(b))
    is_binary = scored & np.isin(a, (0.0, 1.0)) & np.isin(b, (0.0, 1.0))
    masks = {
        "only_a": is_binary & (a == 1) & (b == 0),
        "only_b": is_binary & (a == 0) & (b == 1),
        "both": is_binary & (a == 1) & (b == 1),
        "neither": is_binary & (a == 0) & (b == 0),
        "partial": scored & ~is_binary,
    }
    return {name: [int(k) for k in positions[mask]] for name, mask in masks.items()}


@dataclass(frozen=True)
class DifferingItem:
    """One item with the margin of each run: the caption's score minus its best foil's, in the run's own unit.

    `item`: the id of the project's item, None if it no longer exists.
    """

    record: Record
    item: int | None
    margin_a: float | None
    margin_b: float | None
    pair_margin_a: float | None
    pair_margin_b: float | None


def items_at(release: Release, positions: Sequence[int], a: Run, b: Run) -> list[DifferingItem]:
    """Return the items at these positions of the release with both runs' margins, without taken-down items; three
    queries.
    """
    rows = ReleaseItem.objects.filter(release=release, position__in=list(positions), video__takedown__isnull=True)
    rows = rows.order_by("position")
    found_rows = list(rows.values_list("record", "item_id"))
    margins = [_margins(run, [record for record, _ in found_rows]) for run in (a, b)]
    return [
        DifferingItem(
            record,
            item,
            *(margins_by_id.get(record["id"], (None, None))[k] for k in (0, 1) for margins_by_id in margins),
        )
        for record, item in found_rows
    ]


def _margins(run: Run, records: Sequence[Record]) -> dict[str, tuple[float, float | None]]:
    rows, _missing = release_scores(run, records, few=True)
    margins_by_id = {}
    for row in rows:
        sign = 1.0 if row.higher_is_better else -1.0
        main = min(sign * (row.caption - foil) for foil in row.foils)
        able = row.proficiency_caption
        simple = None if able is None else min(sign * (able - foil) for foil in row.proficiency_foils)
        margins_by_id[row.id] = (main, simple)
    return margins_by_id
