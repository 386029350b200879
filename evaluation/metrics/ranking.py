"""Rank the models of a column, and find which differences chance could explain and what would separate the top two.

Intervals of single models come with their results; this module compares models. All pairs of a column are tested on the
items that both scored (cluster t of the paired difference), with Holm's procedure over all of them. So "tied" means: no
significant difference if every pair of the column is tested.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import ALPHA, items_to_separate, pairwise_tests, tied_groups
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float64]
COLUMNS = ("P+T", "T", "P")


@dataclass(frozen=True)
class ModelScores:
    """One model. `main`, `proficiency`: (n,) credits on the items of the release, NaN where it has no score or the
    item no proficiency pair. `group`: its shares and intervals over the scope (a group of metrics.pairwise)."""

    key: str
    main: Floats
    proficiency: Floats
    group: Mapping[str, Any] | None


def column_credit(model: ModelScores, column: str) -> Floats:
    """Return the model's credit in the column, (n,); P+T is the product, which is "both right" without ties."""
    if column == "T":
        return model.main
    return model.proficiency if column == "P" else model.main * model.proficiency


def default_column(groups: Iterable[Mapping[str, Any] | None]) -> str:
    """Return P+T if some model's group has it, else T: without proficiency items, the main test ranks a release."""
    return "P+T" if any(group and group["P+T"] is not None for group in groups) else "T"


def ranking(
    models: Sequence[ModelScores], clusters: Sequence[str], column: str, scope: NDArray[np.bool_] | None = None
) -> dict[str, Any]:
    """Return rows best first, those without a score last: key, value, place, group, p against the best (Holm).

    `scope` (n,) picks the items of a subtest or test. T covers the items with a proficiency pair if there are any, as
    everywhere. `group`: tied models share it. `items_to_separate`: how many similar items would separate the first from
    the second at 80 % power; None without two models, or if they are equal.
    """
    if column not in COLUMNS:
        raise EvaluationError(f"unknown column {quoted(column)}; choose one of: {', '.join(COLUMNS)}")
    scored = [model for model in models if model.group is not None and model.group[column] is not None]
    scored.sort(key=lambda model: (-_value(model, column), model.key))
    selected = np.ones(len(clusters), dtype=bool) if scope is None else scope
    credit = _credits(scored, column, selected)
    names = [name for name, is_selected in zip(clusters, selected, strict=True) if is_selected]
    p = pairwise_tests(credit, names)
    groups = tied_groups(p)
    rows = [
        {
            "key": model.key,
            "value": _value(model, column),
            "place": groups.index(groups[index]) + 1,
            "group": groups[index],
            "p_best": None if index == 0 else float(p[0, index]),
        }
        for index, model in enumerate(scored)
    ]
    scored_keys = {model.key for model in scored}
    rows += [
        {"key": model.key, "value": None, "place": None, "group": None, "p_best": None}
        for model in models
        if model.key not in scored_keys
    ]
    return {
        "column": column,
        "rows": rows,
        "alpha": ALPHA,
        "n_tests": len(scored) * (len(scored) - 1) // 2,
        "items_to_separate": items_to_separate(credit[0], credit[1], names) if len(scored) > 1 else None,
    }


def _value(model: ModelScores, column: str) -> float:
    assert model.group is not None
    return float(model.group[column])


def scoped_credit(model: ModelScores, column: str, selected: NDArray[np.bool_]) -> Floats:
    """Return the credit in the column, (items of the scope,), NaN for items that a group of metrics.pairwise leaves
    out.
    """
    credit = column_credit(model, column)[selected]
    paired = ~np.isnan(model.proficiency[selected])
    return np.where(paired, credit, np.nan) if column == "T" and paired.any() else credit


def _credits(models: Sequence[ModelScores], column: str, selected: NDArray[np.bool_]) -> Floats:
    """Return (models, items of the scope)."""
    rows = np.full((len(models), int(selected.sum())), np.nan)
    for row, model in enumerate(models):
        rows[row] = scoped_credit(model, column, selected)
    return rows
