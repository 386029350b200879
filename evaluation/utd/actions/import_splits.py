"""Import splits that were created elsewhere: the predictions of nine models, or the ids that remain."""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from corpus.models import Video
from evaluation.score_files.tables import Columns
from evaluation.utd.actions.descriptions import MAX_NAME_LENGTH
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from evaluation.utd.models import BiasRun
from evaluation.utd.predictions import Predictions, read_predictions
from evaluation.utd.splits import split_facts, split_of
from evaluation.utd.utd_files import read_splits
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User

VERSION = "1"


@transaction.atomic
def import_splits(
    person: User | None, project: Project, path: Path, *, name: str = "", columns: Columns | None = None
) -> BiasRun:
    """Create a bias run with only splits, from a CSV of nine models' predictions or a JSON of splits.

    AccessDenied without the researcher's role; EvaluationError names file, line and field.
    """
    require_researcher(person, project)
    if path.suffix == ".json":
        ids, gone = read_splits(path)
        predictions = {"ids": ids, "classes": None, "clusters": ids, "correct": None, "confidence": None}
        facts, ignored = _facts(ids, gone), []
    else:
        read = read_predictions(path, columns)
        predictions, ignored = _stored(read), list(read.ignored_columns)
        facts = split_facts(predictions, split_of(predictions))
    sources = _sources(project, predictions["ids"])
    predictions["clusters"] = [sources.get(each, each) for each in predictions["ids"]]
    classes = predictions["classes"]
    run = BiasRun.objects.create(
        project=project,
        name=(" ".join(name.split()) or path.name)[:MAX_NAME_LENGTH],
        task=CLASSIFICATION if classes else RETRIEVAL,
        params={"file": path.name, "ignored_columns": ignored},
        predictions=predictions,
        result={
            "version": VERSION,
            "task": CLASSIFICATION if classes else RETRIEVAL,
            "n": len(predictions["ids"]),
            "n_classes": len(set(classes)) if classes else None,
            "common": None,
            "dataset": None,
            "split": facts,
        },
        measured_at=timezone.now(),
        created_by=person,
    )
    audit.record(audit.event(project, person, "evaluation.bring_splits", run, file=path.name, n=facts["n"]))
    return run


def _stored(found: Predictions) -> dict[str, Any]:
    return {
        "ids": list(found.ids),
        "classes": None if found.classes is None else list(found.classes),
        "clusters": list(found.ids),
        "correct": ["".join("1" if right else "0" for right in row) for row in found.correct.tolist()],
        "confidence": None if found.confidence is None else found.confidence.tolist(),
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


def _sources(project: Project, ids: list[str]) -> dict[str, str]:
    """Return the source video of each sample that is a video of the project: statistics cluster over it."""
    rows = Video.objects.filter(project=project).exclude(source_id="").values_list("key", "source_dataset", "source_id")
    wanted = set(ids)
    return {key: f"{dataset}/{source}" for key, dataset, source in rows if key in wanted}
