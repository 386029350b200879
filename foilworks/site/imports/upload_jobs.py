"""Run the two jobs of an uploaded import: the preview, and the import itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.corpus.actions.add_videos import add_videos
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.column_roles import sure_document
from foilworks.core.corpus.import_formats.parsing.table_recipe import shipped
from foilworks.core.corpus.import_formats.parsing.table_sample import fitting
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.limits import decode, read_file, table_sample
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.corpus.video_files.media_folder import MediaFolder, names_in_folder
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.outcomes import outcome_of
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.spread import Partly
from foilworks.core.media.errors import MediaError
from foilworks.core.media.strips import strip_of_file
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.text.registry import lookup
from foilworks.site.imports.actions.undo_import import started_of, undo_import
from foilworks.site.imports.batch import ImportResult
from foilworks.site.imports.hub_files import fetch_records
from foilworks.site.imports.models import Import
from foilworks.site.imports.recipes import saved_recipes
from foilworks.site.imports.store import analyze_after_bulk_import, import_records
from foilworks.site.imports.survey import Survey, Surveyed, ignore_survey
from foilworks.site.imports.uploads import (
    fetch_files,
    records_path,
    remove_files,
    strip_path,
    videos_folder,
    without_folder,
)

# Number of rows in a preview.
SAMPLE = 8


def preview(upload: Import, job: Job) -> None:
    """Read the records and decode the videos, but store only the preview."""
    if upload.preview is None and upload.discarded_at is None:
        Import.objects.filter(pk=upload.pk).update(preview=_outcome(upload, job, dry_run=True)[0])


def store(upload: Import, job: Job) -> Partly | None:
    """Import the files; they are not needed afterwards.

    The job is partly done if too many records are invalid; JobError: all are.
    """
    if upload.result is None:
        outcome, result = _outcome(upload, job, dry_run=False)
        if result is None:
            _store_outcome(upload, outcome)
        else:
            analyze_after_bulk_import(result)
    remove_files(upload)
    upload.refresh_from_db(fields=["result"])
    stored = upload.result or {}
    if "problem" in stored:
        raise JobError(stored["problem"])
    return outcome_of(stored.get("records", 0), len(stored.get("errors", ())), stored.get("errors", ()))


def undo(upload: Import, job: Job) -> None:
    """Undo the import, once. The audit trail has who asked for it."""
    if upload.state == "undone":
        return

    def stored(removed: Mapping[str, int]) -> None:
        _store_outcome(upload, {**(upload.result or {}), "undone": dict(removed)})

    undo_import(None, upload.project, started_of(upload), progress=_progress_of(job), stored=stored)


def _store_outcome(upload: Import, outcome: dict[str, Any]) -> None:
    """Store the outcome together with any records, so that a worker that takes over does not count them twice."""
    Import.objects.filter(pk=upload.pk).update(result=without_folder(upload, outcome))


def _outcome(upload: Import, job: Job, *, dry_run: bool) -> tuple[dict[str, Any], ImportResult | None]:
    """Return the JSON of the import and the counts of records; {"problem"} if the files or sender are unusable."""
    result = None
    try:
        if upload.created_by is None:
            raise EvaluationError("the account that uploaded this no longer exists; upload the files again")
        fetch_records(upload)
        fetch_files(upload)
        if dry_run and upload.is_unmapped and not _map_by_contents(upload, sample := _table_sample(upload)):
            return {"table": sample}, None
        if upload.format:
            first = _first_records(upload) if dry_run else []
            sample = _show(upload, first) if dry_run else {}
            result = _records(upload, job, _show_checked(upload, sample) if dry_run else None)
            if dry_run:
                _make_strips(upload, first)
            outcome = {**result.as_json(), **sample}
            if dry_run and upload.format == "table" and records_path(upload).is_file():
                outcome["table"] = _table_sample(upload)
        else:
            outcome = _videos(upload, job, dry_run)
    except (CorpusError, EvaluationError, AccessDenied) as error:
        outcome = {"problem": str(error)}
        if dry_run and upload.format == "table" and not upload.is_unmapped:
            # Another choice of columns may read the file.
            with suppress(CorpusError):
                outcome["table"] = _table_sample(upload)
    return without_folder(upload, outcome), result


def _show(upload: Import, first: Sequence[ItemRecord]) -> dict[str, Any]:
    """Store the first records at once: to check the whole file may take minutes."""
    sample = {"sample": _sample(first)}
    Import.objects.filter(pk=upload.pk).update(first_records=sample)
    return sample


def _make_strips(upload: Import, first: Sequence[ItemRecord]) -> None:
    """Make the film strips of the first records whose clips are among the files."""
    folder = MediaFolder(videos_folder(upload))
    strip_path(upload, 0).parent.mkdir(exist_ok=True)
    for number, record in enumerate(first if upload.n_videos else ()):
        video = record.video
        trim = (video.start_time, video.end_time) if video.time_unit == "sec" else (None, None)
        # The check names a file that cannot be used.
        with suppress(CorpusError, MediaError, OSError):
            if file := folder.find((video.file, video.source_id)):
                strip_path(upload, number).write_bytes(decode(strip_of_file, file.path, *trim))


def _show_checked(upload: Import, sample: Mapping[str, Any]) -> Surveyed:
    """Return what stores, beside the sample, the counts and the first problems of the records that were read."""

    def show(contents: Survey, result: ImportResult) -> None:
        checked = {
            "records": result.records,
            "n_errors": len(result.errors),
            "n_warnings": len(result.warnings),
            "errors": result.errors[:SAMPLE],
            "n_files": len(contents.media),
        }
        shown = without_folder(upload, {**sample, "checked": checked})
        Import.objects.filter(pk=upload.pk).update(first_records=shown)

    return show


def _table_sample(upload: Import) -> dict[str, Any]:
    names = names_in_folder(videos_folder(upload))
    stored_names = Video.objects.filter(project=upload.project).values_list("key", flat=True)
    return table_sample(records_path(upload), {*names, *stored_names.iterator()})


def _map_by_contents(upload: Import, sample: Mapping[str, Any]) -> bool:
    """Store the columns that the contents show, and report whether they leave a person nothing to decide."""
    if fitting({**shipped(), **saved_recipes(upload.project)}, sample["rows"]):
        return False
    document = sure_document(sample["rows"], sample["video_names"])
    if document is not None:
        upload.params = {**upload.params, "mapping": {"records": sample["records"], "keep": True, **document}}
        Import.objects.filter(pk=upload.pk).update(params=upload.params)
    return document is not None


def _records(upload: Import, job: Job, surveyed: Surveyed | None) -> ImportResult:
    """Import the records; with `surveyed`, only check them."""
    return import_records(
        upload.project,
        upload.created_by,
        upload.format,
        records_path(upload),
        media_dir=videos_folder(upload) if upload.n_videos else None,
        dry_run=surveyed is not None,
        update=upload.update,
        as_published=upload.as_published,
        params=upload.params,
        progress=_progress_of(job),
        surveyed=surveyed or ignore_survey,
        stored=lambda result: _store_outcome(upload, result.as_json()),
    )


def _videos(upload: Import, job: Job, dry_run: bool) -> dict[str, Any]:
    result = add_videos(
        upload.created_by, upload.project, videos_folder(upload), dry_run=dry_run, progress=_progress_of(job)
    )
    return {"videos": result}


def _first_records(upload: Import) -> list[ItemRecord]:
    entry = lookup(IMPORTERS, upload.format, "format")
    outcomes = read_file(entry, records_path(upload), upload.params)
    return list(islice((outcome for outcome in outcomes if isinstance(outcome, ItemRecord)), SAMPLE))


def _sample(first: Sequence[ItemRecord]) -> list[dict[str, Any]]:
    return [
        {
            "id": item.id,
            # A caption without foils creates no subtest.
            "subtest": item.subtest if item.foils else "",
            "clip": item.video.key,
            "split": item.video.split,
            "class_label": item.video.class_label,
            "caption": item.caption,
            "foils": item.foils,
        }
        for item in first
    ]


def _progress_of(job: Job) -> Any:
    """Report the progress of the import as progress of its job."""

    def report(items: Iterable[Any], total: int, label: str) -> Iterator[Any]:
        for n_done, item in enumerate(items):
            progress(job, n_done, total, label)
            yield item
        progress(job, total, total, label)

    return report
