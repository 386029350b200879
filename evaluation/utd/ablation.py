"""Compare embedding models, describers and image-text models on the same samples (UTD, Tables A.4-A.6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean, mean_intervals
from evaluation.utd.cells import REFERENCE
from evaluation.utd.models import BenchmarkedModel, BiasRun
from evaluation.utd.samples import samples_of
from foilworks.core.projects.models import Project

ZERO_SHOT = "zero-shot:"


def ablation_rows(project: Project) -> list[dict[str, Any]]:
    """Return one group for each task and choice of classes with runs on the same samples.

    Its rows, each with the `n` of its value, are one per run, with whole descriptions in sequence, and one per
    image-text model. Two queries, and some for each run without splits whose samples an image-text model has seen.
    """
    runs = BiasRun.objects.filter(project=project, result__isnull=False, descriptions__isnull=False)
    groups: dict[tuple[Any, ...], list[BiasRun]] = {}
    for run in runs.select_related("descriptions").order_by("pk"):
        groups.setdefault((run.task, run.labels, run.result["samples"]), []).append(run)
    zero_shot = _zero_shot(runs)
    return [_group(task, labels, some, zero_shot) for (task, labels, _), some in groups.items()]


def _zero_shot(runs: Iterable[BiasRun]) -> dict[int, list[BenchmarkedModel]]:
    models_by_run: dict[int, list[BenchmarkedModel]] = {}
    rows = BenchmarkedModel.objects.filter(run__in=runs, source__startswith=ZERO_SHOT, scored_at__isnull=False)
    for row in rows:
        models_by_run.setdefault(row.run_id, []).append(row)
    return models_by_run


def _group(
    task: str, labels: str, runs: Sequence[BiasRun], zero_shot: dict[int, list[BenchmarkedModel]]
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for run in runs:
        concept, temporal = REFERENCE
        cells = next(row["cells"] for row in run.result["common"] if row["concept"] == concept)
        cell = next(cell for cell in cells if cell["temporal"] == temporal)
        rows.append({"run": run, "value": cell["value"], "ci": cell["ci"], "n": run.result["n"]})
    for run in runs:
        if models := zero_shot.get(run.pk):
            sources = _sources(run)
            rows += [{"model": model, **_share(model, sources)} for model in models]
    best = max((row["value"] for row in rows if row["value"] is not None), default=None)
    return {"task": task, "labels": labels, "n": runs[0].result["n"], "rows": rows, "best": best}


def _sources(run: BiasRun) -> Mapping[str, str]:
    """Return {sample of the run: its source video}. Videos may have been added since: a model answers the
    current ones."""
    if run.predictions:
        return dict(zip(run.predictions["ids"], run.predictions["clusters"], strict=True))
    try:
        samples, _ = samples_of(run)
    except EvaluationError:
        return {}
    return {sample.id: sample.cluster for sample in samples if not sample.train}


def _share(model: BenchmarkedModel, sources: Mapping[str, str]) -> dict[str, Any]:
    sample_ids = [sample for sample in sources if sample in model.right]
    if not sample_ids:
        return {"value": None, "ci": None, "n": 0}
    values = np.array([model.right[sample] for sample in sample_ids])
    (interval,) = mean_intervals(values[:, None], [sources[sample] for sample in sample_ids])
    return {"value": mean(values), "ci": interval, "n": len(sample_ids)}
