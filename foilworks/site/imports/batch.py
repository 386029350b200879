"""Hold the records of one import on their way into the tables, a chunk at a time, and the stored rows they match."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Model

from foilworks.core.corpus.models import Caption, Item, Subtest, Video
from foilworks.core.corpus.records import BadRecord, ItemRecord
from foilworks.core.corpus.release_records import release_id
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.corpus.video_files.ingest import StoredMedia
from foilworks.core.projects.models import Project
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.core.text.quoting import quoted
from foilworks.core.text.spill import Spill

# Clips without a file that are listed: enough to see what is wrong with their names.
MAX_MISSING = 5
KINDS = ("items", "captions", "proficiency_items", "videos", "subtests", "foils", "votes")


@dataclass
class ImportResult:
    """`created` and `unchanged` count rows by kind; `media` counts the clips of the file by state.

    `changes` are records that differ from stored ones: not changed, or `updated` if requested. `missing` names the
    first clips whose file was not found, `similar` files that may be theirs, `broken` all whose file cannot be used,
    `converted` all whose file is stored as a copy; `errors` and `warnings` are lines, `PATH:LINE: FIELD: …`. Of a list
    of videos, `splits` counts the good records and `n_classes` their classes.
    """

    format: str
    path: str
    project: str
    dry_run: bool
    records: int = 0
    # When it began: the time at which all its rows are made, as ISO 8601. "" if nothing is stored.
    started: str = ""
    # Names of the subtests that it made.
    subtests: list[str] = field(default_factory=list)
    # What a record of the format becomes.
    counted: tuple[str, ...] = ("items", "captions")
    created: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    changes: list[dict[str, Any]] = field(default_factory=list)
    # New items that count as valid because they are published.
    as_published: int = 0
    # Records with a pair name, and pairs of which the file has, or adds, the second item.
    halves: int = 0
    pairs: int = 0
    attached: int = 0
    # Clips of records without a caption: lists of videos.
    without_captions: int = 0
    # Which columns of the list were taken, and the videos per split ("" for none) with the number of classes.
    columns: str = ""
    splits: Counter[str] = field(default_factory=Counter)
    n_classes: int = 0
    # Stored videos whose class, split or other label the list says differently.
    relabelled: int = 0
    media: Counter[str] = field(default_factory=Counter)
    # The plug-in that read the file, such as "foilworks-mirror 0.3"; "" for our own formats.
    plugin: str = ""
    missing: list[str] = field(default_factory=list)
    # Clips that nobody used whose file in the folder is not the stored one, and those that took it.
    differing: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    # The same of clips that somebody used, and those that got a version with it.
    used_differing: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    # For those, the file of the folder that is probably meant.
    similar: dict[str, str] = field(default_factory=dict)
    broken: list[dict[str, str]] = field(default_factory=list)
    converted: list[dict[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def reader(self) -> dict[str, str]:
        """Return what the audit and the result say about a format that is not our own."""
        return {"plugin": self.plugin} if self.plugin else {}

    def as_json(self) -> dict[str, Any]:
        return {
            "format": self.format,
            **self.reader,
            "path": self.path,
            "project": self.project,
            "dry_run": self.dry_run,
            "started": self.started,
            "records": self.records,
            "created": {kind: self.created[kind] for kind in KINDS},
            "unchanged": {
                kind: self.unchanged[kind] for kind in (*KINDS[:3], *set(self.counted).difference(KINDS[:3]))
            },
            "new": sum(self.created[kind] for kind in self.counted),
            "same": sum(self.unchanged[kind] for kind in self.counted),
            "changed": len(self.changes),
            "updated": sum(change["updated"] for change in self.changes),
            "changes": self.changes,
            "as_published": self.as_published,
            "pairs": self.pairs,
            "attached": self.attached,
            "without_captions": self.without_captions,
            "columns": self.columns,
            "splits": dict(self.splits),
            "n_classes": self.n_classes,
            "relabelled": self.relabelled,
            "media": {state: self.media[state] for state in ("ready", "elsewhere", "missing", "broken")},
            "missing": self.missing,
            "differing": self.differing,
            "replaced": self.replaced,
            "used_differing": self.used_differing,
            "versions": self.versions,
            "similar": self.similar,
            "broken": self.broken,
            "converted": self.converted,
            "errors": self.errors,
            "warnings": self.warnings,
        }


# Below the number of variables that every database takes in one statement.
CHUNK = 500
# Number of records that a warning names.
MAX_NAMED = 3

Element = TypeVar("Element")


@dataclass
class Shape:
    """What the items of a subtest look like in a file; the rule of a new subtest follows from it."""

    tests: Counter[str] = field(default_factory=Counter)
    # Test -> the first records that name it.
    first_ids: dict[str, list[str]] = field(default_factory=dict)
    votes: Counter[int] = field(default_factory=Counter)
    foils: Counter[int] = field(default_factory=Counter)
    pair_votes: Counter[int] = field(default_factory=Counter)
    pair_foils: Counter[int] = field(default_factory=Counter)

    def count(self, record: ItemRecord) -> None:
        self.foils[len(record.foils)] += 1
        if record.test:
            self.tests[record.test] += 1
            if self.tests[record.test] <= MAX_NAMED:
                self.first_ids.setdefault(record.test, []).append(record.id)
        if record.votes is not None and record.votes.total:
            self.votes[record.votes.total] += 1
        pair = record.proficiency
        if pair is not None:
            self.pair_foils[len(pair.foils)] += 1
            if pair.votes is not None and pair.votes.total:
                self.pair_votes[pair.votes.total] += 1


@dataclass
class Batch:
    """One import. `records` are those of this chunk, and shrink as some turn out to clash.

    The tables fill up, step by step, for the steps that follow. `clips` and `seen` remember earlier chunks. `update`:
    stored rows may change to what the file says. `as_published`: items count as valid because they are published,
    unless the file's votes decide on them.
    """

    project: Project
    path: Path
    result: ImportResult
    shapes: Mapping[str, Shape]
    media: Mapping[str, StoredMedia]
    # Of the files that were taken down from the project: SHA-256 -> reason.
    taken_down: Mapping[str, str]
    started: datetime
    update: bool
    as_published: bool
    clips: Spill
    seen: Spill
    # Keys of clips with a file that `media` replaces.
    replaced: Set[str]
    # Keys of used clips of which `media` is a new version.
    versions: Set[str]
    # False: the import is checked, and nothing is stored.
    writes: bool
    # Whether the project had no clip before: then all rows in the tables come from this import.
    is_first_import: bool = False
    subtests: dict[str, Subtest] = field(default_factory=dict)
    records: list[ItemRecord] = field(default_factory=list)
    videos: dict[str, Video] = field(default_factory=dict)
    # Keys of the clips that this chunk makes.
    new_clips: set[str] = field(default_factory=set)
    # (subtest, votes, foils) -> what they decide.
    decisions: dict[tuple[int, ...], tuple[FoilVerdict, ItemState]] = field(default_factory=dict)
    # Of a check: pair names of which the file has one item, and those of which it has the other one.
    single_pairs: set[tuple[str, str]] = field(default_factory=set)
    complete_pairs: set[tuple[str, str]] = field(default_factory=set)
    captions: dict[tuple[int, str], Caption] = field(default_factory=dict)
    pairs: dict[tuple[int, str], Item] = field(default_factory=dict)
    # Record id -> the stored row with that id: an item, or a caption that needs foils.
    stored: dict[str, Item | Caption] = field(default_factory=dict)
    # Of those, the rows whose content the file replaces.
    renewed: set[str] = field(default_factory=set)
    # Record id -> differences: {field: (stored, of the file)}.
    differences: dict[str, dict[str, tuple[Any, Any]]] = field(default_factory=dict)

    def take(self, records: list[ItemRecord]) -> None:
        """Move to the next chunk."""
        self.records = records
        tables = self.videos, self.new_clips, self.captions, self.pairs, self.stored, self.renewed, self.differences
        for table in tables:
            table.clear()

    def clip_of(self, record: ItemRecord) -> Video:
        """Return the clip of a record: the version that its stored row is about, else the newest."""
        row = None if record.id in self.renewed else self.stored.get(record.id)
        return self.videos[record.video.key] if row is None else row.video

    def is_first(self, kind: str, *key: object) -> bool:
        """Report whether this import meets the thing for the first time."""
        return self.seen.setdefault(json.dumps([kind, *key]), "") is None

    def insert(self, rows: Sequence[Model], at: datetime | None = None) -> None:
        """Store new rows of one model; a check stores none."""
        if self.writes:
            insert_many(rows, at)

    def update_rows(self, rows: Collection[Model], fields: Sequence[str]) -> None:
        """Store these fields of rows of one model; a check stores none."""
        if self.writes and rows:
            type(next(iter(rows)))._default_manager.bulk_update(rows, fields, batch_size=CHUNK)

    def made_now(self, row: Video | Item) -> bool:
        """Report whether an earlier chunk of this import created the row; other imports wait."""
        return row.created_at >= self.started

    def differs(self, record: ItemRecord, fields: Mapping[str, tuple[Any, Any]]) -> None:
        """Note a difference between the stored row and the record."""
        if fields:
            self.differences.setdefault(record.id, {}).update(fields)

    def refuse(self, clashes: Iterable[tuple[ItemRecord, str, str, str]]) -> None:
        """Remove these (record, field, problem, fix) from the import and list them as bad."""
        refused = set()
        for record, name, problem, fix in clashes:
            refused.add(record.id)
            self.result.errors.append(str(BadRecord(self.where(record), name, problem, fix)))
        self.leave_out(refused)

    def leave_out(self, ids: Iterable[str]) -> None:
        out = set(ids)
        self.records = [record for record in self.records if record.id not in out]

    def where(self, record: ItemRecord) -> str:
        return f"{self.path}:{record.line}"


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def chunks(items: Sequence[Element]) -> Iterator[Sequence[Element]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def resolve_ids(batch: Batch) -> None:
    """Give records that name a stored item by its release id the item's key; refuse ids that would clash in
    releases."""
    release_ids = {record.id: release_id(record.subtest, record.id) for record in batch.records if record.foils}
    batch.refuse(
        (
            record,
            "id",
            f"is {quoted(release_ids[record.id])} in releases, which is the id of another record",
            "give it its own id",
        )
        for record in batch.records
        if record.foils and not batch.is_first("released", release_ids[record.id])
    )
    if batch.is_first_import:
        return
    keys_by_name = _stored(batch, set(release_ids.values()))
    clashes, resolved = [], []
    for record in batch.records:
        keys = keys_by_name.get(release_ids.get(record.id, ""), {})
        if keys and record.id not in keys.get(record.subtest, ()):
            if record.id != release_ids[record.id] or record.subtest not in keys:
                problem = f"is {quoted(release_ids[record.id])} in releases, which is the id of another item"
                clashes.append((record, "id", problem, "give it its own id"))
            else:
                record = replace(record, id=keys[record.subtest][0])
        resolved.append(record)
    batch.records = resolved
    batch.refuse(clashes)


def _stored(batch: Batch, names: set[str]) -> dict[str, dict[str, list[str]]]:
    """Return id in releases -> subtest -> the keys of the main items that have it."""
    keys_by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for keys in chunks(sorted({key for name in names for key in keys_behind(name)})):
        rows = Item.objects.filter(subtest__project=batch.project, subtest__kind=Subtest.Kind.MAIN, key__in=keys)
        for subtest, key in rows.values_list("subtest__name", "key"):
            name = release_id(subtest, key)
            if name in names:
                keys_by_name[name][subtest].append(key)
    return keys_by_name


def keys_behind(name: str) -> Iterator[str]:
    """Return possible keys of the item: the name, or what follows a subtest, whose own name may contain colons."""
    yield name
    for index, character in enumerate(name):
        if character == ":":
            yield name[index + 1 :]
