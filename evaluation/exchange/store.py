"""A file of a known format into a project: read, its media proved and kept, everything stored in one transaction."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from corpus.errors import CorpusError
from corpus.importers.table import IMPORTERS
from corpus.media_files import KeptMedia, find_media, keep_media
from corpus.models import Item, MediaState, Video
from corpus.records import BadRecord, ItemRecord, RecordWarning
from evaluation.errors import EvaluationError
from evaluation.exchange._captions import check_captions, store_captions
from evaluation.exchange._items import check_items, store_items, store_pairs
from evaluation.exchange._subtests import load_subtests, store_subtests
from evaluation.exchange._videos import check_videos, store_videos
from evaluation.exchange.batch import Batch, chunks
from evaluation.exchange.result import ImportResult
from projects import audit
from projects.access import require_role
from projects.actions.create_project_by_operator import store_project
from projects.models import Project, Role, User
from text.registry import load, lookup, parse_params

Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def _silent(things: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    yield from things


def import_records(
    project: Project,
    actor: User | None,
    format_slug: str,
    path: Path,
    *,
    media_dir: Path | None = None,
    dry_run: bool = False,
    strict: bool = False,
    params: Mapping[str, Any] | None = None,
    progress: Progress = _silent,
) -> ImportResult:
    """Store the good records of the file and list the bad ones; again with the same file, nothing changes.

    `actor` None is the operator at the command line. `media_dir` is where files are looked for: by name, by source id;
    clips whose file is not there are stored as missing, clips whose file cannot be used as broken. `dry_run` says what
    would happen and stores nothing, `strict` stores nothing where a record is bad. A project that is not stored yet
    (the operator's) is stored with the records, and not without them. CorpusError: the file cannot be
    read, no such media folder; EvaluationError: a bad record under `strict`, two imports at once.
    """
    if actor is not None:
        require_role(actor, project, Role.RESEARCHER)
    entry = lookup(IMPORTERS, format_slug, "format")
    result = ImportResult(format_slug, str(path), project.slug, dry_run)
    records = _read(load(entry).read(path, params=parse_params(entry, params or {})), result)
    batch = Batch(project, path, result, records, media={})
    found = _find(batch, media_dir)
    _stop_if_strict(strict, result)
    batch.media = _keep(found, copy=not dry_run, progress=progress)
    try:
        with transaction.atomic():
            _store(batch, actor)
            _stop_if_strict(strict, result)
            if dry_run:
                transaction.set_rollback(True)
    except IntegrityError as error:
        raise EvaluationError(f"{path}: somebody else changed the project meanwhile; import again") from error
    return result


def _read(outcomes: Iterable[Any], result: ImportResult) -> list[ItemRecord]:
    records = []
    for outcome in outcomes:
        if isinstance(outcome, ItemRecord):
            records.append(outcome)
        elif isinstance(outcome, BadRecord):
            result.errors.append(str(outcome))
        elif isinstance(outcome, RecordWarning):
            result.warnings.append(str(outcome))
    result.records = len(records) + len(result.errors)
    return records


def _stop_if_strict(strict: bool, result: ImportResult) -> None:
    if strict and result.errors:
        more = f" (and {len(result.errors) - 1} more bad records)" if len(result.errors) > 1 else ""
        raise EvaluationError(f"{result.errors[0]}{more}; nothing was stored")


def _find(batch: Batch, media_dir: Path | None) -> dict[str, Path]:
    """Clip key -> its file, for clips that have none yet. Records whose file lies outside of the folder are bad."""
    if media_dir is None:
        return {}
    if not media_dir.is_dir():
        raise CorpusError(f"{media_dir}: is no folder; name the folder with the media files")
    ready = _ready_keys(batch)
    found: dict[str, Path] = {}
    clashes = []
    for record in batch.records:
        video = record.video
        if video.key in ready or video.key in found:
            continue
        try:
            path = find_media(media_dir, [video.file, video.source_id])
        except CorpusError as error:
            problem, _, fix = str(error).partition("; ")
            clashes.append((record, "video", problem, fix))
            continue
        if path is not None:
            found[video.key] = path
    batch.refuse(clashes)
    return found


def _ready_keys(batch: Batch) -> set[str]:
    if batch.project.pk is None:
        return set()
    keys = list({record.video.key for record in batch.records})
    ready = Video.objects.filter(project=batch.project, media_state=MediaState.READY)
    return {key for some in chunks(keys) for key in ready.filter(key__in=some).values_list("key", flat=True)}


def _keep(found: dict[str, Path], *, copy: bool, progress: Progress) -> dict[str, KeptMedia]:
    """Each file is decoded and copied once, before the transaction: nobody waits for it."""
    paths = list(dict.fromkeys(found.values()))
    kept = {path: keep_media(path, copy=copy) for path in progress(paths, len(paths), "videos")}
    return {key: kept[path] for key, path in found.items()}


def _store(batch: Batch, actor: User | None) -> None:
    now = timezone.now()
    if batch.project.pk is None:
        store_project(batch.project)
    # Imports into one project queue up here (SQLite's writers queue by themselves).
    Project.objects.select_for_update().get(pk=batch.project.pk)
    load_subtests(batch)
    for check in (check_videos, check_captions, check_items):
        check(batch)
    for store in (store_videos, store_subtests, store_captions):
        store(batch)
    created = [*store_pairs(batch, now), *store_items(batch, now)]
    _record(batch, actor, created)


def _record(batch: Batch, actor: User | None, created: list[Item]) -> None:
    result, project = batch.result, batch.project
    counts = {"created": dict(result.created), "unchanged": dict(result.unchanged), "bad": len(result.errors)}
    copies = [kept for kept in batch.media.values() if kept.made_from]
    events = [
        audit.event(
            project,
            actor,
            "evaluation.import_records",
            project,
            format=result.format,
            file=batch.path.name,
            attached=result.attached,
            playable_copies={kept.facts.sha256: kept.made_from for kept in copies if kept.facts},
            **counts,
        )
    ]
    events += [audit.event(project, actor, "import", item, to_state=item.state) for item in created]
    audit.record_many(events)
