"""Import splits that were created elsewhere: the predictions of nine models, or the ids that remain."""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.score_files.tables import Columns
from evaluation.utd.actions.descriptions import MAX_LISTED, MAX_NAME_LENGTH
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL, TASKS
from evaluation.utd.matching import matched_keys
from evaluation.utd.models import BiasRun
from evaluation.utd.predictions import Predictions, read_predictions
from evaluation.utd.splits import class_rows, split_facts, split_of
from evaluation.utd.utd_files import read_splits
from foilworks.core.corpus.models import Caption, Video
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import quoted

VERSION = "1"


@transaction.atomic
def import_splits(
    person: User | None,
    project: Project,
    path: Path,
    *,
    name: str = "",
    columns: Columns | None = None,
    task: str = "",
) -> BiasRun:
    """Create a bias run with only splits, from a CSV of nine models' predictions or a JSON of splits.

    `task`: of the samples; else it is classification if the file has classes or a balanced split. Samples are matched
    to videos of the project, so that models can answer them. AccessDenied without the researcher's role;
    EvaluationError names file, line and field.
    """
    require_researcher(person, project)
    _check_task(task)
    if path.suffix == ".json":
        ids, gone = read_splits(path)
        predictions = {"ids": ids, "classes": None, "clusters": ids, "correct": None, "confidence": None}
        facts, ignored = _facts(ids, gone), []
        task = task or (RETRIEVAL if gone["removed_balanced"] is None else CLASSIFICATION)
    else:
        read = read_predictions(path, columns)
        predictions, ignored = _stored(read), list(read.ignored_columns)
        facts = split_facts(predictions, split_of(predictions))
        task = task or (CLASSIFICATION if predictions["classes"] else RETRIEVAL)
    matched = _matched(project, predictions, facts, task)
    classes = {row["class"] for row in facts["classes"]}
    run = BiasRun.objects.create(
        project=project,
        name=(" ".join(name.split()) or path.name)[:MAX_NAME_LENGTH],
        task=task,
        params={"file": path.name, "ignored_columns": ignored},
        predictions=predictions,
        result={
            "version": VERSION,
            "task": task,
            "n": len(predictions["ids"]),
            "n_classes": len(classes) if classes else None,
            "common": None,
            "dataset": None,
            "split": facts,
            "matched": matched,
        },
        measured_at=timezone.now(),
        created_by=person,
    )
    audit.record(audit.event(project, person, "evaluation.bring_splits", run, file=path.name, n=facts["n"]))
    return run


def _check_task(task: str) -> None:
    if task and task not in TASKS:
        raise EvaluationError(f"{quoted(task)} is not a task; choose one of: {', '.join(TASKS)}")


def _matched(project: Project, predictions: dict[str, Any], facts: dict[str, Any], task: str) -> dict[str, Any]:
    """Add the videos of the samples and their classes to predictions and facts; return what was matched."""
    ids = predictions["ids"]
    keys = _captioned(project, ids) if task == RETRIEVAL else {}
    keys = {**keys, **matched_keys(project, [sample_id for sample_id in ids if sample_id not in keys])}
    rows = Video.objects.filter(project=project).values_list("key", "source_dataset", "source_id", "class_label")
    video_keys = set(keys.values())
    videos = {
        key: (f"{dataset}/{source}" if source else key, label)
        for key, dataset, source, label in rows
        if key in video_keys
    }
    predictions["videos"] = [keys.get(sample_id) for sample_id in ids]
    predictions["clusters"] = [videos[keys[sample_id]][0] if sample_id in keys else sample_id for sample_id in ids]
    if task == CLASSIFICATION and not predictions["classes"]:
        classes = [videos[keys[sample_id]][1] if sample_id in keys else "" for sample_id in ids]
        gone, gone_balanced = (set(facts[key] or ()) for key in ("removed", "removed_balanced"))
        removed_indices = [
            {at for at, sample_id in enumerate(ids) if sample_id in some} for some in (gone, gone_balanced)
        ]
        facts["classes"] = class_rows(classes, *removed_indices)
        predictions["classes"] = classes if all(classes) else None
    missing = [sample_id for sample_id in ids if sample_id not in keys]
    return {"n": len(keys), "n_missing": len(missing), "missing": missing[:MAX_LISTED]}


def _captioned(project: Project, ids: list[str]) -> dict[str, str]:
    """Return {id: key of the video} of the ids that are keys of captions."""
    sample_ids = set(ids)
    rows = Caption.objects.filter(video__project=project).values_list("key", "video__key")
    return {key: video for key, video in rows.iterator() if key in sample_ids}


def _stored(predictions: Predictions) -> dict[str, Any]:
    return {
        "ids": list(predictions.ids),
        "classes": None if predictions.classes is None else list(predictions.classes),
        "clusters": list(predictions.ids),
        "correct": ["".join("1" if right else "0" for right in row) for row in predictions.correct.tolist()],
        "confidence": None if predictions.confidence is None else predictions.confidence.tolist(),
    }


def _facts(ids: list[str], gone: dict[str, list[str] | None]) -> dict[str, Any]:
    removed = gone["removed"] or []
    return {
        "n": len(ids),
        "n_biased": len(removed),
        "share_biased": len(removed) / len(ids),
        "kappa": None,
        "removed": removed,
        "removed_balanced": gone["removed_balanced"],
        "classes": [],
    }
