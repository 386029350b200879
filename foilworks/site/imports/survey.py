"""Read the file of an import a first time, before a row is written, to learn what it contains.

A file is parsed once, for its problems, the shape of its subtests and its media. Its records wait in a temporary file
until they are stored: memory does not grow with their number.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection

from evaluation.errors import EvaluationError
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.limits import read_file
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.records import BadRecord, ItemRecord, RecordWarning, TakenColumns
from foilworks.core.corpus.video_files.media_folder import FoundFile, MediaFolder
from foilworks.core.corpus.video_files.replaced_files import StoredBytes, versions_of
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, load, lookup
from foilworks.core.text.spill import SpilledChunks
from foilworks.site.imports._changes import clips_in_use
from foilworks.site.imports.batch import CHUNK, MAX_MISSING, ImportResult, Shape, chunks

Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]
# Records in memory at a time.
READ = 4 * CHUNK
_BLOCK = 1024 * 1024


def silent(items: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    """Report no progress."""
    yield from items


@dataclass
class Source:
    """A file of a known format that does not change while it is read."""

    format_slug: str
    path: Path
    params: Mapping[str, Any]
    # Of the files beside it, which show which column names the clip.
    video_names: Collection[str] = ()
    _stamp: tuple[int, int] | None = None

    @property
    def entry(self) -> Entry:
        return lookup(IMPORTERS, self.format_slug, "format")

    @property
    def yields(self) -> str:
        """Return the kind of its records: items (and captions), videos without captions, votes, or data of utd."""
        return str(getattr(load(self.entry), "YIELDS", "items"))

    def new_result(self, project: str, dry_run: bool) -> ImportResult:
        """Return the empty result of an import of this file."""
        result = ImportResult(self.format_slug, str(self.path), project, dry_run, plugin=self.entry.origin)
        if self.yields == "videos":
            result.counted = ("videos",)
        return result

    def outcomes(self) -> Iterator[Any]:
        """Read the records.

        CorpusError: the file cannot be read. EvaluationError: it changed since the first reading.
        """
        self._check_unchanged()
        yield from read_file(self.entry, self.path, self.params, self.video_names)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        try:
            now = self.path.stat()
        except OSError:
            return  # the importer has the better message
        stamp = now.st_mtime_ns, now.st_size
        self._stamp = self._stamp or stamp
        if stamp != self._stamp:
            raise EvaluationError(f"{self.path}: the file changed while it was read; import it again")


class _Replacement(NamedTuple):
    """A file of the folder for a clip that has one. `where`: the line of its record; `is_cut`: it is a longer file."""

    versions: list[Video]
    path: Path
    where: str
    is_cut: bool


@dataclass
class Survey:
    """The result of the first reading: `shapes` by subtest, `media` by clip key, `cut` clips, ids of bad records.

    `records`: all of them, in a file, read again more quickly than they are parsed.
    """

    n_records: int = 0
    shapes: dict[str, Shape] = field(default_factory=dict)
    media: dict[str, Path] = field(default_factory=dict)
    # Keys of clips with an end: they are cut out of longer files.
    cut: set[str] = field(default_factory=set)
    # Keys of clips with a file that `media` replaces.
    replaced: set[str] = field(default_factory=set)
    # Keys of used clips of which `media` is a new version.
    versions: set[str] = field(default_factory=set)
    # File names that the folder lacks, for the first clips without a file.
    missing: dict[str, tuple[str, str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    records: SpilledChunks[ItemRecord] = field(default_factory=SpilledChunks)

    @property
    def n_chunks(self) -> int:
        return -(-self.n_records // records_per_chunk())


def records_per_chunk() -> int:
    """Return how many records one statement round stores; fewer on SQLite, where other writers wait for it."""
    return max(1, READ // 20) if connection.vendor == "sqlite" else READ


Surveyed = Callable[[Survey, ImportResult], None]


def ignore_survey(_contents: Survey, _result: ImportResult) -> None:
    """Do nothing; the default of `surveyed`."""


def survey(
    source: Source,
    project: Project,
    result: ImportResult,
    media_dir: Path | None,
    progress: Progress,
    *,
    update: bool = False,
    surveyed: Surveyed = ignore_survey,
) -> Survey:
    """Read the file to its end and add problems to `result`.

    `update`: files that differ from those of unused clips replace them. `surveyed` is called after each chunk of
    records with what is known of the file so far. CorpusError: unreadable file, or no such media folder.
    """
    if media_dir is not None and not media_dir.is_dir():
        raise CorpusError(f"{media_dir}: not a folder. Choose the folder with the media files")
    contents = Survey()
    classes: set[str] = set()
    folder = None if media_dir is None else MediaFolder(media_dir)
    stored_bytes = StoredBytes(project)
    for records in progress(_chunks(source, result), _max_chunks(source.path), "reading"):
        contents.n_records += len(records)
        result.records += len(records)
        contents.records.append(records)
        if folder is not None:
            ready = _ready_videos(project, records)
            records, replacements = _with_media(records, contents, ready, result, folder)
            _compare(replacements, contents, result, stored_bytes, update=update)
        for record in records:
            if record.foils:
                contents.shapes.setdefault(record.subtest, Shape()).count(record)
            if not record.caption:
                result.splits[record.video.split] += 1
                classes.add(record.video.class_label)
        surveyed(contents, result)
    result.n_classes = len(classes - {""})
    if contents.n_records and result.splits.total() == contents.n_records - len(contents.refused):
        result.counted = ("videos",)
    if folder is not None:
        used_paths = set(contents.media.values())
        similar = {key: folder.similar(names, used_paths) for key, names in contents.missing.items()}
        result.similar = {key: name for key, name in similar.items() if name}
    return contents


def good_chunks(contents: Survey) -> Iterator[list[ItemRecord]]:
    """Yield the good records, a chunk at a time."""
    good = (record for records in contents.records for record in records if record.id not in contents.refused)
    while records := list(islice(good, records_per_chunk())):
        yield records


def _chunks(source: Source, result: ImportResult) -> Iterator[list[ItemRecord]]:
    records: list[ItemRecord] = []
    for outcome in source.outcomes():
        if isinstance(outcome, ItemRecord):
            records.append(outcome)
        elif isinstance(outcome, BadRecord):
            result.errors.append(str(outcome))
            result.records += 1
        elif isinstance(outcome, RecordWarning):
            result.warnings.append(str(outcome))
        elif isinstance(outcome, TakenColumns):
            result.columns = str(outcome)
        if len(records) == READ:
            yield records
            records = []
    yield records


def _max_chunks(path: Path) -> int:
    """Return an upper bound: no file has more records than lines; 0 if the lines say nothing."""
    if not path.is_file() or path.suffix.lower() == ".json":
        return 0
    with path.open("rb") as file:
        n_lines = sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
    return n_lines // READ + 1


def _with_media(
    records: list[ItemRecord],
    contents: Survey,
    ready: Mapping[str, list[Video]],
    result: ImportResult,
    folder: MediaFolder,
) -> tuple[list[ItemRecord], dict[str, _Replacement]]:
    """Search for the files of the clips; a record whose file is outside of the folder is bad.

    Return the good records, and by key the files of clips that have one.
    """
    replacements: dict[str, _Replacement] = {}
    # Many clips of one file are common, so it is searched once.
    file_by_names: dict[tuple[str, str], FoundFile | None] = {}
    for record in records:
        video = record.video
        if video.key in contents.media or video.key in replacements:
            continue
        names = video.file, video.source_id
        try:
            is_new = names not in file_by_names
            file = file_by_names.setdefault(names, folder.find(names)) if is_new else file_by_names[names]
        except CorpusError as error:
            problem, _, fix = str(error).partition("; ")
            result.errors.append(str(BadRecord(f"{result.path}:{record.line}", "video", problem, fix)))
            contents.refused.add(record.id)
            continue
        if video.key in ready:
            if file is not None:
                where = f"{result.path}:{record.line}"
                replacements[video.key] = _Replacement(ready[video.key], file.path, where, _is_cut(record))
        elif file is not None:
            contents.media[video.key] = file.path
            contents.cut |= {video.key} if _is_cut(record) else set()
            if is_new and file.differs_in:
                name = quoted(file.requested_name)
                problem = f"{name} differs in {file.differs_in} from {quoted(file.name)}, which is used instead"
                result.warnings.append(str(RecordWarning(f"{result.path}:{record.line}", "video", problem)))
        elif len(contents.missing) < MAX_MISSING:
            contents.missing[video.key] = names
    return [record for record in records if record.id not in contents.refused], replacements


def _is_cut(record: ItemRecord) -> bool:
    return (record.video.start_time, record.video.end_time) != (None, None)


def _compare(
    replacements: Mapping[str, _Replacement],
    contents: Survey,
    result: ImportResult,
    stored_bytes: StoredBytes,
    *,
    update: bool,
) -> None:
    """Name the clips whose file in the folder has other bytes; with `update`, those that nobody used take it, and
    others get a version with it."""
    pairs = [(video, file.path) for file in replacements.values() for video in file.versions]
    other_bytes = {video.pk for video in stored_bytes.differing(pairs)}
    differing = {
        key: file for key, file in replacements.items() if other_bytes.issuperset(each.pk for each in file.versions)
    }
    used = clips_in_use([file.versions[-1].pk for file in differing.values()])
    for key, file in differing.items():
        is_used = file.versions[-1].pk in used
        (result.used_differing if is_used else result.differing).append(key)
        if update:
            contents.media[key] = file.path
            (contents.versions if is_used else contents.replaced).add(key)
            contents.cut |= {key} if file.is_cut else set()
            continue
        fix = "the clip was used: import with --update to add a version" if is_used else "import with --update"
        problem = f"{quoted(file.path.name)} differs from the stored file of the clip, which stays; {fix}"
        result.warnings.append(str(RecordWarning(file.where, "video", problem)))


def _ready_videos(project: Project, records: list[ItemRecord]) -> dict[str, list[Video]]:
    """Return the versions of the clips of the records that have a file, by key."""
    if project.pk is None:
        return {}
    keys = list({record.video.key for record in records})
    if not Video.objects.filter(project=project, media_state=MediaState.READY).exists():
        return {}
    versions = {key: videos for chunk in chunks(keys) for key, videos in versions_of(project, chunk).items()}
    ready = {
        key: [video for video in videos if video.media_state == MediaState.READY] for key, videos in versions.items()
    }
    return {key: videos for key, videos in ready.items() if videos}
