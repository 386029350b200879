"""Import a file of a known format into a project: read it, check and store its media, store all rows in one
transaction; on SQLite a large file in several, between which people work.

The file is read a chunk at a time, so that no size fills the memory (foilworks.site.imports.survey).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from annotation.transactions import was_rolled_back_by_the_database
from evaluation.errors import EvaluationError
from foilworks.core.corpus.actions.prepare_videos import prepare_later
from foilworks.core.corpus.models import Caption, Foil, Item, Video
from foilworks.core.corpus.video_files.ingest import StoredMedia, reasons_taken_down, store_media
from foilworks.core.corpus.video_files.media_folder import names_in_folder
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.actions.creation import store_project
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.bulk_writes import analyze_tables
from foilworks.core.text.quoting import quoted
from foilworks.core.text.spill import Spill
from foilworks.site.imports._captions import check_captions, store_captions
from foilworks.site.imports._changes import list_changes, lock_changed, store_changes, strict_problem
from foilworks.site.imports._items import check_items, store_items, store_pairs
from foilworks.site.imports._pairs import check_pairs, warn_of_halves
from foilworks.site.imports._subtests import load_subtests, store_subtests, warn_of_other_tests
from foilworks.site.imports._videos import check_videos, refuse_taken_down, store_videos
from foilworks.site.imports.batch import Batch, ImportResult, resolve_ids
from foilworks.site.imports.survey import (
    Progress,
    Source,
    Survey,
    Surveyed,
    good_chunks,
    ignore_survey,
    records_per_chunk,
    silent,
    survey,
)
from foilworks.site.imports.utd import import_utd
from foilworks.site.imports.votes import read_votes, store_votes

# Number of new rows after which the statistics of the query planner are out of date.
MANY = 1000
# How long one transaction of an import should hold SQLite's only writer, and the fewest records that it stores.
HOLD_SECONDS, MIN_RECORDS = 0.1, 10
Stored = Callable[[ImportResult], None]


def _ignore_result(_result: ImportResult) -> None:
    """Do nothing; the default of `stored`."""


def import_records(
    project: Project,
    actor: User | None,
    format_slug: str,
    path: Path,
    *,
    media_dir: Path | None = None,
    dry_run: bool = False,
    strict: bool = False,
    update: bool = False,
    as_published: bool = False,
    params: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    surveyed: Surveyed = ignore_survey,
    stored: Stored = _ignore_result,
) -> ImportResult:
    """Store the good records of the file and list the bad ones; a second import of the same file changes nothing.

    `actor` None is the operator at the command line. `media_dir` is searched for files by name and by source id; a clip
    without a file is stored as missing, with an unusable file as broken. `dry_run` stores nothing; `strict` stores
    nothing if a record is bad. Records that differ from stored ones are listed; with `update` they change, if nobody
    worked on them. `as_published`: items that its votes do not decide are valid. A new project is stored, too.
    `surveyed` is called while the file is read, `stored` inside the transaction. CorpusError: file or folder cannot be
    read; EvaluationError: a bad record under `strict`, two imports.
    """
    require_researcher(actor, project)
    source = Source(format_slug, path, params or {}, names_in_folder(media_dir))
    result = source.new_result(project.slug, dry_run)
    _check_as_published(as_published, source, format_slug)
    if source.yields == "utd":
        utd = partial(import_utd, project, actor, source, dry_run=dry_run, strict=strict)
        return _all_or_nothing(project, result, utd, stored)
    if source.yields == "votes":
        return _import_votes(project, actor, source, result, (strict, update), progress, stored)
    file = survey(source, project, result, media_dir, progress, update=update, surveyed=surveyed)
    _stop_if_strict(strict, result)
    media, now = _store_files(file, copy=not dry_run, progress=progress), timezone.now()
    taken_down, writes = reasons_taken_down(project, media.values()), update or not dry_run
    in_batches = connection.vendor == "sqlite" and not (dry_run or strict) and file.n_chunks > 1

    def write(trial: ImportResult) -> None:
        with Spill() as clips, Spill() as keys:
            options = taken_down, now, update, as_published, clips, keys, file.replaced, file.versions
            batch = Batch(project, path, trial, file.shapes, media, *options, writes)
            _store(batch, file, actor, progress, transaction.atomic if in_batches else nullcontext)
            _stop_if_strict(strict, trial, strict_problem(batch))

    if not writes:
        return _checked(project, result, write)
    return _batch_by_batch(result, write, stored) if in_batches else _all_or_nothing(project, result, write, stored)


def _checked(project: Project, result: ImportResult, write: Callable[[ImportResult], None]) -> ImportResult:
    """Let `write` count what it would store: without a transaction, since nobody should wait for a check.

    Not of an update: only the update itself knows what it replaces and removes, so it is rolled back.
    """
    stored_as = project.pk
    # No row refers to such a project.
    project.pk = stored_as or 0
    try:
        write(result)
    finally:
        project.pk = stored_as
    return result


def _batch_by_batch(result: ImportResult, write: Callable[[ImportResult], None], stored: Stored) -> ImportResult:
    """Let `write` store in several transactions: SQLite has one writer at a time, and people's votes come between them.

    If it stops half-way, another import of the file stores the rest. EvaluationError: the database refused a batch.
    """
    try:
        write(result)
    except IntegrityError as error:
        problem = f"the project was changed during the import ({' '.join(str(error).split())})"
        raise EvaluationError(f"{result.path}: {problem}; earlier records are stored; import again") from error
    with transaction.atomic():
        stored(result)
    return result


def _all_or_nothing(
    project: Project, result: ImportResult, write: Callable[[ImportResult], None], stored: Stored
) -> ImportResult:
    """Let `write` store everything in one transaction and count in a copy of `result`, which is returned. A dry run is
    rolled back.

    Rows that the database refuses may have been written by somebody else meanwhile: then a second attempt sees them.
    EvaluationError: the database aborted the transaction because of another one, or refused the rows both times.
    """
    stored_as, path = project.pk, result.path
    for is_last in (False, True):
        trial = deepcopy(result)
        try:
            with transaction.atomic():
                write(trial)
                if result.dry_run:
                    transaction.set_rollback(True)
                else:
                    stored(trial)
            return trial
        except IntegrityError as error:
            project.pk = stored_as
            if is_last:
                problem = (
                    f"two records, or a record and a stored one, have the same key ({' '.join(str(error).split())})"
                )
                raise EvaluationError(f"{path}: {problem}; nothing was stored; please report this as a bug") from error
        except OperationalError as error:
            if not was_rolled_back_by_the_database(error):
                raise
            raise EvaluationError(f"{path}: the project was changed during the import; import again") from error
    raise AssertionError("the last attempt returns or raises")


def analyze_after_bulk_import(result: ImportResult) -> None:
    """Have the database recompute its statistics if the import changes query plans; the caller does not wait for it."""
    if result.created["items"] + result.created["captions"] + result.without_captions >= MANY:
        analyze_tables(Video, Caption, Item, Foil)


def _import_votes(
    project: Project,
    actor: User | None,
    source: Source,
    result: ImportResult,
    options: tuple[bool, bool],
    progress: Progress,
    stored: Stored,
) -> ImportResult:
    """Import votes for existing items; `options` are strict, update."""
    strict, update = options
    result.counted = ("votes",)
    votes = read_votes(source, result)
    if project.pk is None:
        raise EvaluationError(
            f"--project: there is no project {quoted(project.slug)}; import the items of the votes first"
        )
    _stop_if_strict(strict, result)

    def write(trial: ImportResult) -> None:
        store_votes(project, actor, source, votes, trial, update=update, progress=progress)
        differing = next((change["record"] for change in trial.changes if not change["updated"]), "")
        _stop_if_strict(
            strict,
            trial,
            f"{differing}: votes: different votes are stored; import with --update" if differing else "",
        )

    return _all_or_nothing(project, result, write, stored)


def _check_as_published(as_published: bool, source: Source, format_slug: str) -> None:
    if as_published and source.yields != "items":
        raise EvaluationError(f"--as-published: the format {format_slug} has no items; leave the option out")


def _stop_if_strict(strict: bool, result: ImportResult, fallback: str = "") -> None:
    problem = result.errors[0] if result.errors else fallback
    if strict and problem:
        more = f" (and {len(result.errors) - 1} more bad records)" if len(result.errors) > 1 else ""
        raise EvaluationError(f"{problem}{more}; nothing was stored")


def _store_files(contents: Survey, *, copy: bool, progress: Progress) -> dict[str, StoredMedia]:
    """Decode and copy each file once, before the transaction, so that nobody waits for it."""
    uses = {key: (path, key in contents.cut) for key, path in contents.media.items()}
    files = list(dict.fromkeys(uses.values()))
    stored = {
        (path, is_film): store_media(path, copy=copy, is_film=is_film)
        for path, is_film in progress(files, len(files), "videos")
    }
    return {key: stored[use] for key, use in uses.items()}


def _store(
    batch: Batch,
    contents: Survey,
    actor: User | None,
    progress: Progress,
    within: Callable[[], AbstractContextManager[object]],
) -> None:
    """Store the file, a chunk at a time; `within`: the transaction of each chunk, if not the caller's."""
    with within():
        if batch.project.pk is None:
            store_project(batch.project)
        if batch.writes:
            # Imports into one project queue here (SQLite's writers queue by themselves). People can continue to work: a
            # lock that the foreign keys of their rows wait for would block all their commits, and their locks this
            # import.
            Project.objects.select_for_update(no_key=True).get(pk=batch.project.pk)
        batch.is_first_import = not Video.objects.filter(project=batch.project).exists()
        load_subtests(batch)
    size = records_per_chunk()
    for records in progress(good_chunks(contents), contents.n_chunks, "storing" if batch.writes else "checking"):
        while records:
            part, records = records[:size], records[size:]
            with within():
                began = monotonic()
                _store_chunk(batch, part, actor)
                size = _next_size(len(part), monotonic() - began)
    with within():
        warn_of_other_tests(batch)
        warn_of_halves(batch)
        if batch.writes:
            _record(batch, actor)
    if not batch.result.dry_run:
        prepare_later(batch.project.pk)


def _next_size(n: int, seconds: float) -> int:
    """Return how many records the next transaction stores, where `n` took these seconds.

    SQLite has one writer: on a busy machine, few records keep people waiting as long as many on an idle one.
    """
    if connection.vendor != "sqlite":
        return records_per_chunk()
    return min(records_per_chunk(), max(MIN_RECORDS, int(n * HOLD_SECONDS / max(seconds, 1e-3))))


def _store_chunk(batch: Batch, records: Sequence[Any], actor: User | None) -> None:
    batch.take(records)
    for check in (resolve_ids, check_pairs, check_videos, check_captions, check_items, refuse_taken_down, list_changes):
        check(batch)
    lock_changed(batch)
    store_videos(batch, actor)
    store_changes(batch, actor)
    for store in (store_subtests, store_captions):
        store(batch)
    created = [*store_pairs(batch, batch.started), *store_items(batch, batch.started)]
    if batch.writes:
        audit.record_many(audit.event(batch.project, actor, "import", item, to_state=item.state) for item in created)


def _record(batch: Batch, actor: User | None) -> None:
    result, project = batch.result, batch.project
    result.started = "" if result.dry_run else batch.started.isoformat()
    counts = {"created": dict(result.created), "unchanged": dict(result.unchanged), "bad": len(result.errors)}
    copies = [media for media in batch.media.values() if media.made_from]
    event = audit.event(
        project,
        actor,
        "evaluation.import_records",
        project,
        format=result.format,
        file=batch.path.name,
        started=result.started,
        subtests=result.subtests,
        attached=result.attached,
        changed=len(result.changes),
        as_published=batch.as_published,
        playable_copies={media.facts.sha256: media.made_from for media in copies if media.facts},
        **result.reader,
        **counts,
    )
    audit.record(event)
