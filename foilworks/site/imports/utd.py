"""Import descriptions and splits of UTD. Stored content is not stored twice."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from evaluation.errors import EvaluationError
from evaluation.utd.actions.descriptions import import_descriptions
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.models import BiasRun, Descriptions, FrameText
from evaluation.utd.utd_files import sha256_of
from foilworks.core.corpus.import_formats.utd import UtdFile
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.batch import ImportResult
from foilworks.site.imports.survey import Source


def import_utd(
    project: Project, actor: User | None, source: Source, result: ImportResult, *, dry_run: bool, strict: bool
) -> None:
    """Store what the file has about videos and samples of the project.

    EvaluationError: no such project, not a file of UTD, or videos that the project does not have (`strict`).
    """
    (utd_file,) = source.outcomes()
    assert isinstance(utd_file, UtdFile)
    if project.pk is None:
        raise EvaluationError(f"--project: there is no project {quoted(project.slug)}; import its videos first")
    kind = "descriptions" if utd_file.holds == "descriptions" else "splits"
    result.records, result.counted = 1, (kind,)
    with transaction.atomic():
        is_stored = _stored_texts(project, source) if kind == "descriptions" else _stored_splits(project, source, actor)
        if is_stored:
            result.unchanged[kind] += 1
            return
        if kind == "descriptions":
            outcome = import_descriptions(actor, project, [source.path])
            result.warnings += _unknown_videos(source, outcome.problems)
        result.created[kind] += 1
        if strict and result.warnings:
            raise EvaluationError(f"{result.warnings[0]}; nothing was stored")
        if kind == "descriptions":
            result.warnings += [f"{source.path}:1: {problem}" for problem in outcome.problems.get("missing_texts", [])]
        if dry_run:
            transaction.set_rollback(True)


def _stored_texts(project: Project, source: Source) -> bool:
    of_file = FrameText.objects.filter(described_by__sha256=sha256_of([source.path]))
    return Descriptions.objects.filter(project=project, pk__in=of_file.values("descriptions")).exists()


def _stored_splits(project: Project, source: Source, actor: User | None) -> bool:
    """Import the splits, unless a run of the project has the same."""
    earlier = [_content(run) for run in BiasRun.objects.filter(project=project, descriptions=None)]
    with transaction.atomic():
        new_run = import_splits(actor, project, source.path)
        if _content(new_run) in earlier:
            transaction.set_rollback(True)
            return True
    return False


def _content(run: BiasRun) -> tuple[Any, ...]:
    """Return what the file says; which videos match may change."""
    read, split = run.predictions or {}, (run.result or {}).get("split") or {}
    answers = [read.get(name) for name in ("ids", "correct", "confidence")]
    return run.task, *answers, split.get("removed"), split.get("removed_balanced")


def _unknown_videos(source: Source, problems: Mapping[str, Any]) -> list[str]:
    names = problems.get("not_in_project", [])
    more = f" (and {problems['n_not_in_project'] - len(names)} more)" if names else ""
    return [f"{source.path}:1: {name}: is not a video of the project, skipped" for name in names[:-1]] + [
        f"{source.path}:1: {name}: is not a video of the project, skipped{more}" for name in names[-1:]
    ]
