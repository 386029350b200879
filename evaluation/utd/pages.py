"""Build what the pages of UTD show: words for concepts and times, tables as in the paper. No model, no scikit-learn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics.intervals import DRAWS, SEED, bootstrap, cluster_sums, mean_intervals
from evaluation.utd.concepts import (
    ACTIVITIES,
    AVERAGE,
    DESCRIPTION,
    MAX_SCORE,
    MIDDLE,
    OBJECTS,
    SEQUENCE,
    SUMMARY,
    VERBS,
    frame_text,
)
from evaluation.utd.models import BenchmarkedModel, BiasRun, Descriptions, FrameText
from evaluation.utd.reliability import losses
from evaluation.utd.shortcuts import latest_check, summary
from evaluation.utd.verdicts import beside_chance, conclusions
from foilworks.core.corpus.models import Video
from foilworks.core.projects.models import Project

FULL, SPLIT, BALANCED = "full", "split", "balanced"
Floats = NDArray[np.float64]
CONCEPT_NAMES: dict[str, str | Promise] = {
    DESCRIPTION: _("obj+comp+act"),
    OBJECTS: _("objects"),
    ACTIVITIES: _("activities"),
    VERBS: _("verbs"),
    SUMMARY: _("15 words"),
}
TEMPORAL_NAMES: dict[str, str | Promise] = {
    SEQUENCE: _("sequence of frames"),
    AVERAGE: _("average over frames"),
    MAX_SCORE: _("max-score frame"),
    MIDDLE: _("middle frame"),
}
# Also the order of the glossary.
TERMS: Sequence[tuple[str | Promise, str | Promise]] = (
    (
        _("obj+comp+act"),
        _(
            "The full description of a frame: objects, their composition (spatial relations) and "
            "activities. The other three concepts are extracted from it. All differences are relative to "
            "it."
        ),
    ),
    (_("objects"), _("Only the list of visible objects. High numbers mean that naming objects is enough.")),
    (_("activities"), _("Actions together with their objects.")),
    (_("verbs"), _("Actions only. Every noun is replaced by “someone” or “something”.")),
    (_("sequence of frames"), _("All frames in one text, “Frame 1: … Frame 8: …”. The order is preserved.")),
    (_("average over frames"), _("The mean of the frame vectors. Every frame counts, but the order is lost.")),
    (_("max-score frame"), _("The frame with the highest score for a class or caption.")),
    (_("middle frame"), _("One frame from the middle of the video: the fourth of eight.")),
    (
        _("common sense bias"),
        _(
            "The text encoder compares descriptions with class names or captions. It uses only general "
            "knowledge and was not trained on this data set."
        ),
    ),
    (
        _("dataset bias"),
        _(
            "A linear classifier is trained on descriptions of the train split. Its gain over common sense comes from "
            "patterns of this data set, such as a mirror in every make-up video."
        ),
    ),
)


def benchmark(
    ids: Sequence[str],
    clusters: Sequence[str],
    removed: Mapping[str, Sequence[str] | None],
    right: Mapping[str, Mapping[str, float]],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Compare models on the splits.

    `removed`: ids removed for the split and for the balanced one, None without one; `right`: {model: {id: 0..1}}.
    A model counts over the samples that it has an answer to; `n_missing` are the others. A difference is its share in a
    split minus its share in the full set, with a paired interval over source videos. `flips`: pairs of models of which
    one ranks higher in the full set and the other in the split. `order`: models by the size of their drop, smallest
    first. E.g. right on 3 of 4, and on 1 of the 2 that stay: .75, .5, difference -.25.
    """
    masks = {FULL: np.ones(len(ids), dtype=bool)}
    for name, gone in removed.items():
        if gone is not None:
            out = set(gone)
            masks[name] = np.array([sample_id not in out for sample_id in ids], dtype=bool)
    rows = [_row(model, ids, clusters, masks, answers, draws, seed) for model, answers in right.items()]
    return {
        "n": {name: int(stays.sum()) for name, stays in masks.items()},
        "models": sorted(rows, key=lambda row: (-(row["cells"][FULL]["value"] or 0.0), row["model"])),
        "flips": {name: _flips(rows, name) for name in masks if name != FULL},
        "order": {name: _order(rows, name) for name in masks if name != FULL},
    }


def _row(
    model: str,
    ids: Sequence[str],
    clusters: Sequence[str],
    masks: Mapping[str, NDArray[np.bool_]],
    answers: Mapping[str, float],
    draws: int,
    seed: int,
) -> dict[str, Any]:
    values = np.array([answers.get(sample_id, np.nan) for sample_id in ids])
    has_answer = ~np.isnan(values)
    cells: dict[str, Any] = {}
    for name, stays in masks.items():
        in_split = stays & has_answer
        if not in_split.any():
            cells[name] = {"value": None, "ci": None, "n": 0, "difference": None, "difference_ci": None}
            continue
        some = [clusters[at] for at in np.flatnonzero(in_split)]
        (interval,) = mean_intervals(values[in_split][:, None], some, draws=draws, seed=seed)
        cells[name] = {"value": float(values[in_split].mean()), "ci": interval, "n": int(in_split.sum())}
        if name != FULL:
            cells[name]["difference"] = cells[name]["value"] - cells[FULL]["value"]
            cells[name]["difference_ci"] = _difference_interval(values, has_answer, in_split, clusters, draws, seed)
    return {"model": model, "n_missing": int((~has_answer).sum()), "cells": cells}


def _difference_interval(
    values: Floats,
    has_answer: NDArray[np.bool_],
    in_split: NDArray[np.bool_],
    clusters: Sequence[str],
    draws: int,
    seed: int,
) -> list[float] | None:
    """Return the interval of share in the split minus share in the full set: both over the same draws of source
    videos."""
    filled_values = np.where(has_answer, values, 0.0)
    columns = np.column_stack([filled_values * in_split, in_split, filled_values, has_answer]).astype(np.float64)
    rows = cluster_sums(columns, clusters)

    def statistic(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3])

    return bootstrap(rows, statistic, draws=draws, seed=seed)


def _flips(rows: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    flips = []
    for first, second in combinations(rows, 2):
        before, after = (_sign(first["cells"][form]["value"], second["cells"][form]["value"]) for form in (FULL, name))
        if before * after < 0:
            ahead, behind = (first, second) if before > 0 else (second, first)
            flips.append({"ahead_in_full": ahead["model"], "ahead_in_split": behind["model"]})
    return flips


def _sign(first: float | None, second: float | None) -> int:
    if first is None or second is None or first == second:
        return 0
    return 1 if first > second else -1


def _order(rows: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    compared_rows = [row for row in rows if row["cells"][name]["difference"] is not None]
    drops = [{"model": row["model"], "difference": row["cells"][name]["difference"]} for row in compared_rows]
    return sorted(drops, key=lambda row: (-row["difference"], row["model"]))


@dataclass(frozen=True)
class Step:
    """A shade of the tables: differences of at least `least` in absolute value."""

    least: float
    name: str


SHADES = (Step(0.15, "3"), Step(0.05, "2"), Step(0.01, "1"))


def shade(difference: float | None) -> str:
    """Return "down-3" … "up-3", by size; empty below one point."""
    if difference is None:
        return ""
    level = next((step.name for step in SHADES if abs(difference) >= step.least), "")
    return f"{'up' if difference > 0 else 'down'}-{level}" if level else ""


def rows_of(table: Sequence[Mapping[str, Any]] | None, chance: float = 0.0) -> list[dict[str, Any]]:
    """Return the rows of a table of cells with words for their concept, each cell with its two shades: by its
    difference from the full description, and by its distance to chance."""
    return [
        {
            "concept": row["concept"],
            "name": CONCEPT_NAMES[row["concept"]],
            "cells": [
                {**cell, "shade": shade(cell["difference"]), **beside_chance(cell, chance)} for cell in row["cells"]
            ],
        }
        for row in table or ()
    ]


def verdicts_of(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the verdicts with the name of their concept; empty before the run is measured."""
    if not result.get("common"):
        return []
    return [{**row, "name": CONCEPT_NAMES[row["concept"]]} for row in conclusions(result)]


def gain_rows(gains: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    return [{**row, "name": CONCEPT_NAMES[row["concept"]], "shade": shade(row["difference"])} for row in gains or ()]


def loss_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the missing texts with the names of the text and of the cells that they cost."""
    return [
        {
            **row,
            "name": CONCEPT_NAMES[row["text"]],
            "cells": [(is_learnt, CONCEPT_NAMES[concept], ordered) for is_learnt, concept, ordered in row["cells"]],
        }
        for row in losses(result)
    ]


def descriptions_of(project: Project) -> QuerySet[Descriptions]:
    """Return the newest first, with the numbers of described videos and frames. One query."""
    counted = Descriptions.objects.filter(project=project).select_related("job")
    return counted.annotate(n_videos=Count("frames__video", distinct=True), n_frames=Count("frames"))


def runs_of(project: Project) -> QuerySet[BiasRun]:
    """Return the newest first, without their predictions. One query."""
    return BiasRun.objects.filter(project=project).select_related("job", "descriptions").defer("predictions")


def facts_of(project: Project, described: Sequence[Any], runs: Sequence[BiasRun]) -> dict[str, Any]:
    """Return what the page says first: described videos, the split of the newest run with one, the checked items."""
    newest = next((run for run in runs if (run.result or {}).get("split")), None)
    check = latest_check(project)
    return {
        "described": max((descriptions.n_videos for descriptions in described), default=0),
        "videos": Video.objects.filter(project=project).count(),
        "run": newest,
        "split": newest.result["split"] if newest else None,
        "items": summary(check)[-1] if check else None,
    }


def shown_frames(descriptions: Descriptions, video: int) -> list[dict[str, Any]]:
    """Return the frames of a video: the raw answers, and a text per concept, "" for none. Two queries."""
    rows = FrameText.objects.filter(descriptions=descriptions, video=video)
    return [
        {
            "row": row,
            "cells": [frame_text(concept, row.raw[concept]) if concept in row.raw else "" for concept in CONCEPT_NAMES],
            "texts": [
                (CONCEPT_NAMES[concept], frame_text(concept, row.raw[concept]), row.raw[concept])
                for concept in (OBJECTS, ACTIVITIES, VERBS, SUMMARY, DESCRIPTION)
                if concept in row.raw
            ],
        }
        for row in rows.select_related("described_by", "extracted_by").order_by("place")
    ]


def benchmark_of(run: BiasRun) -> dict[str, Any] | None:
    """Return the run's models on its splits (UTD, Tables 5 and 6), cached until one changes; None without splits or
    models.
    """
    split = run.result and run.result.get("split")
    if not split or not run.predictions:
        return None
    rows = BenchmarkedModel.objects.filter(run=run, scored_at__isnull=False)
    stamp = list(rows.order_by("pk").values_list("pk", "label", "scored_at"))
    if not stamp:
        return None
    predictions = run.predictions

    def make() -> dict[str, Any]:
        right = dict(rows.values_list("label", "right"))
        removed = {SPLIT: split["removed"], BALANCED: split["removed_balanced"]}
        return benchmark(predictions["ids"], predictions["clusters"], removed, right)

    fingerprint = digest(["1", run.measured_at, stamp])
    return cached_by_fingerprint(run.project, "utd-benchmark", str(run.pk), fingerprint, make)


def benchmark_rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "cells": [
                {**row["cells"][name], "shade": shade(row["cells"][name].get("difference"))} for name in table["n"]
            ],
        }
        for row in table["models"]
    ]
