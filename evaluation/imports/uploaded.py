"""The two jobs of an import by the page: what it would do, and doing it."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from corpus.actions.add_videos import add_videos
from corpus.errors import CorpusError
from corpus.importers.registry import IMPORTERS
from corpus.limits import read_file
from corpus.records import ItemRecord
from evaluation.errors import EvaluationError
from evaluation.imports.batch import ImportResult
from evaluation.imports.models import Import
from evaluation.imports.store import analyze_after_bulk_import, import_records
from evaluation.imports.uploads import records_path, remove_files, videos_folder, without_folder
from jobs.models import Job
from jobs.progress import progress
from projects.errors import AccessDenied
from text.registry import lookup

# What a page shows before anything is stored.
SAMPLE = 8


def preview(upload: Import, job: Job) -> None:
    """Read the records, decode the videos, store nothing but what would come of it."""
    if upload.preview is None and upload.discarded_at is None:
        Import.objects.filter(pk=upload.pk).update(preview=_outcome(upload, job, dry_run=True)[0])


def store(upload: Import, job: Job) -> None:
    """Import for good; the files that were sent are not needed after it."""
    if upload.result is None:
        outcome, result = _outcome(upload, job, dry_run=False)
        if result is None:
            _keep(upload, outcome)
        else:
            analyze_after_bulk_import(result)
    remove_files(upload)


def _keep(upload: Import, outcome: dict[str, Any]) -> None:
    """Store the outcome; of records together with them, so that a worker that takes over does not count them again."""
    Import.objects.filter(pk=upload.pk).update(result=without_folder(upload, outcome))


def _outcome(upload: Import, job: Job, *, dry_run: bool) -> tuple[dict[str, Any], ImportResult | None]:
    """The JSON of the import, {"problem"} where the files as a whole, or who sent them, stand in the way; and what was
    counted, of records."""
    result = None
    try:
        if upload.created_by is None:
            raise EvaluationError("the account that uploaded this no longer exists; upload the files again")
        if upload.format:
            result = _records(upload, job, dry_run)
            outcome = {**result.as_json(), **({"sample": _sample(upload)} if dry_run else {})}
        else:
            outcome = _videos(upload, job, dry_run)
    except (CorpusError, EvaluationError, AccessDenied) as error:
        outcome = {"problem": str(error)}
    return without_folder(upload, outcome), result


def _records(upload: Import, job: Job, dry_run: bool) -> ImportResult:
    return import_records(
        upload.project,
        upload.created_by,
        upload.format,
        records_path(upload),
        media_dir=videos_folder(upload) if upload.n_videos else None,
        dry_run=dry_run,
        update=upload.update,
        as_published=upload.as_published,
        params=upload.params,
        progress=_told(job),
        stored=lambda result: _keep(upload, result.as_json()),
    )


def _videos(upload: Import, job: Job, dry_run: bool) -> dict[str, Any]:
    found = add_videos(upload.created_by, upload.project, videos_folder(upload), dry_run=dry_run, progress=_told(job))
    return {"videos": found}


def _sample(upload: Import) -> list[dict[str, Any]]:
    entry = lookup(IMPORTERS, upload.format, "format")
    outcomes = read_file(entry, records_path(upload), upload.params)
    items = (outcome for outcome in outcomes if isinstance(outcome, ItemRecord))
    return [
        {
            "id": item.id,
            # A caption without foils makes no subtest.
            "subtest": item.subtest if item.foils else "",
            "clip": item.video.key,
            "caption": item.caption,
            "foils": item.foils,
        }
        for item in islice(items, SAMPLE)
    ]


def _told(job: Job) -> Any:
    """Progress of the import as progress of its job."""

    def tell(things: Iterable[Any], total: int, label: str) -> Iterator[Any]:
        for done, thing in enumerate(things):
            progress(job, done, total, label)
            yield thing
        progress(job, total, total, label)

    return tell
