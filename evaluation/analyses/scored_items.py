"""Hold models' scores on items with facts about the items, and compute accuracy within groups of items.

Records of a file: `{"id", "scores": [caption, foil...], "model"?, "category"?, "cluster"?, "higher_is_better"?}` a line
with the facts that an analysis reads (`count`, `duration`, `edited`, `hard_foil`, `proximity`, `antonym`,
`original_frequency`, `swapped_frequency`) in the same record. `model` names the model; facts of an item may be in any
of its records.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals, t_interval
from evaluation.metrics.ties import hit, standing

Floats = NDArray[np.float64]
BINS = 5


@dataclass(frozen=True)
class ScoredItems:
    """n items. `models`: (n, w) scores by model, higher is better, caption first, NaN padded.

    A row of NaN is an item without scores of the model. `facts`: the known facts of each item. `categories`: text,
    image or video by model.
    """

    ids: Sequence[str]
    clusters: Sequence[str]
    facts: Sequence[Mapping[str, Any]]
    models: Mapping[str, Floats]
    categories: Mapping[str, str]


def credits(scores: Floats, ties: str = "half") -> Floats:
    """Return the pairwise credit of each item, (n,), NaN if the model has no score."""
    is_scored = ~np.isnan(scores[:, 0])
    return np.where(is_scored, hit(standing(np.where(is_scored[:, None], scores, 0.0)), ties), np.nan)


def chance(scores: Floats) -> Floats:
    """Return the credit of guessing, (n,): one over the number of texts; NaN without a score."""
    with np.errstate(divide="ignore"):
        return np.where(np.isnan(scores[:, 0]), np.nan, 1.0 / (~np.isnan(scores)).sum(axis=1))


def number(facts: Mapping[str, Any], name: str) -> float:
    """Return a fact as a number, NaN if it is missing or not a finite number."""
    value = facts.get(name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(value) if good and value is not None else float("nan")


def share(
    credit: Floats, clusters: Sequence[str], selected: NDArray[np.bool_], draws: int, seed: int
) -> dict[str, Any]:
    """Compute accuracy over the chosen items that have a credit: `accuracy`, bootstrap `ci`, `t_ci`, `n`; None without
    items.
    """
    is_used = selected & ~np.isnan(credit)
    if not is_used.any():
        return {"accuracy": None, "ci": None, "t_ci": None, "n": 0}
    values = credit[is_used]
    names = [clusters[k] for k in np.flatnonzero(is_used).tolist()]
    (ci,) = mean_intervals(values[:, None], names, draws=draws, seed=seed)
    return {"accuracy": mean(values), "ci": ci, "t_ci": t_interval(values, names), "n": len(values)}


def by_group(
    items: ScoredItems, groups: Mapping[str, NDArray[np.bool_]], ties: str, *, draws: int = DRAWS, seed: int = SEED
) -> list[dict[str, Any]]:
    """Return a row for each model and group, in order: model, category, group, accuracy with intervals, chance, n.

    A model that scored no item of any group has no row.
    """
    rows = []
    for model, scores in items.models.items():
        credit, guess = credits(scores, ties), chance(scores)
        if not any((selected & ~np.isnan(credit)).any() for selected in groups.values()):
            continue
        for name, selected in groups.items():
            accuracy = share(credit, items.clusters, selected, draws, seed)
            is_used = selected & ~np.isnan(credit)
            at_random = float(guess[is_used].mean()) if is_used.any() else None
            labels = {"model": model, "category": items.categories.get(model, ""), "group": name}
            rows.append({**labels, **accuracy, "chance": at_random})
    return rows


def binned(ordered: Sequence[int], values: Sequence[float], name: str, n: int) -> dict[str, NDArray[np.bool_]]:
    """Split items, given in the order of their values, into BINS groups of equal size; (n,) masks by name and range.

    With fewer items than bins, each item is a bin.
    """
    masks: dict[str, NDArray[np.bool_]] = {}
    for indices in np.array_split(np.asarray(ordered, dtype=np.int64), min(BINS, len(ordered))):
        mask = np.zeros(n, dtype=bool)
        mask[indices] = True
        masks[f"{name}: {values[indices[0]]:.3g} to {values[indices[-1]]:.3g} ({len(masks) + 1})"] = mask
    return masks


def counted_foils(items: ScoredItems, width: int) -> NDArray[np.bool_]:
    """Return which foils count, (n, width): only the hard foil of an item that has one (`hard_foil`, from 0), else all.

    An item whose hard foil dropped out (-1) has none.
    """
    hard = np.array([number(facts, "hard_foil") for facts in items.facts])[:, None]
    return np.isnan(hard) | (np.arange(width)[None, :] == hard)


def n_hard_foils(items: ScoredItems) -> dict[str, int]:
    """Count the items with a hard foil by how it is known: marked in the file, nearest by edit distance, a fact."""
    with_one = (facts for facts in items.facts if facts.get("hard_foil") is not None)
    return dict(Counter(str(facts.get("hard_foil_source", "fact")) for facts in with_one))


def need(has_fact: NDArray[np.bool_], otherwise: str) -> None:
    """Raise EvaluationError with the text `otherwise` if no item has the fact that the analysis is about."""
    if not has_fact.any():
        raise EvaluationError(otherwise)
