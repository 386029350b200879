"""Records that importers read and exporters write: plain facts, no table. Equal records are equal in any format."""

import hashlib
import json
import tempfile
import weakref
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from foilworks.core.corpus.release_documents import ReleaseDocuments

# Long enough for any caption (the longest published one has a few hundred characters), short enough for a page.
MAX_TEXT = 2_000
MAX_ID = 200
MAX_URL = 1_000
MAX_LABEL = 120
MAX_DATASET = 100
TIME_UNITS = ("sec", "pts", "frames")
SPLITS = ("", "train", "val", "test")
Text = TypeVar("Text")


@dataclass(frozen=True, slots=True)
class VoteCounts:
    """How many validators chose the caption, the foil, anything else. Files contain counts, not people."""

    caption: int
    foil: int
    other: int

    @property
    def total(self) -> int:
        return self.caption + self.foil + self.other


@dataclass(frozen=True)
class VideoRecord:
    """A clip: its key, where the file may be, its trim, and what its data set says of it.

    `file` is a relative path below the media folder; `start_time` and `end_time` are in `time_unit`: seconds,
    presentation timestamps or numbers of frames (from 0; the end is the first frame after the clip).
    """

    key: str
    file: str = ""
    url: str = ""
    source_dataset: str = ""
    source_id: str = ""
    start_time: float | None = None
    end_time: float | None = None
    time_unit: str = "sec"
    split: str = ""
    class_label: str = ""
    category: str = ""
    movie: str = ""


@dataclass(frozen=True)
class PairRecord:
    """A proficiency check of an item: a simpler caption and foils for the same video, with its votes."""

    caption: str
    foils: tuple[str, ...]
    votes: VoteCounts | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemRecord:
    """A caption of a video with its foils; `foils == ()` is a caption to make foils for. A record without a caption is
    a video alone, with its class and split.

    `facts` is what methods and analyses read (an annotated count, a template); `extra` are the fields of the file that
    nothing here names, returned on export. `pair` is the name that both records of an item of two clips share. `line`
    says where in the file the record starts: no part of its value.
    """

    id: str
    subtest: str
    video: VideoRecord
    caption: str
    foils: tuple[str, ...] = ()
    test: str = ""
    proficiency: PairRecord | None = None
    votes: VoteCounts | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    pair: str = ""
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TextRecord:
    """What a file of any form says of one item: the `right` text, its `wrongs`, and more ("" if nothing).

    `position`: that of the right text among the options, from 0; None if the file does not order them. `where`:
    the line, or the number of the record. `clip`: the video with the times of its part. `hard`: the index of the hard
    foil among the wrong texts (-1: it is none of them), None if all count alike; `hard_source`: how it is known.
    `is_label`: the question is a text with a label, and right and wrong are yes and no, or true and false. `group`: of
    records that a classifier must not learn one from the other. `file`: that of the clip; `played`: how it was made;
    `needs_time`: only the time of its frames tells the texts apart. `transcript`: what is spoken. `address`: its file,
    the index of its raw record there (-1: that of the line `where`), and its index among the records inside it; None if
    it is of no file.
    """

    right: str
    wrongs: tuple[str, ...]
    where: int
    id: str = ""
    subtest: str = ""
    split: str = ""
    video: str = ""
    clip: str = ""
    question: str = ""
    position: int | None = None
    licence: str = ""
    language: str = ""
    hard: int | None = None
    hard_source: str = ""
    is_label: bool = False
    group: str = ""
    file: str = ""
    played: str = ""
    needs_time: bool = False
    transcript: str = ""
    address: tuple[str, int, int] | None = field(default=None, compare=False)

    @property
    def n_options(self) -> int:
        return 1 + len(self.wrongs)

    def counted(self, wrongs: Sequence[Text]) -> Sequence[Text]:
        """Return those of the wrong texts, or of what belongs to them, that probes of texts count (blind audit)."""
        if self.hard is None:
            return wrongs
        return wrongs[self.hard : self.hard + 1] if self.hard >= 0 else wrongs[:0]

    def probed(self) -> "TextRecord":
        """Return the record with only the wrong texts that count; a pair has no order of options."""
        if self.hard is None:
            return self
        return replace(self, wrongs=tuple(self.counted(self.wrongs)), position=None)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(self.right, wrong) for wrong in self.wrongs]


@dataclass(frozen=True)
class BadRecord:
    """A record that cannot be imported; `where` is PATH:LINE."""

    where: str
    field: str
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: {self.problem}; {self.fix}"


@dataclass(frozen=True)
class RecordWarning:
    """A record that is imported, but that a person should check."""

    where: str
    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: {self.problem}"


@dataclass(frozen=True)
class TakenColumns:
    """What an importer took the columns of a table for, {field: column}, and the columns that it left out."""

    columns: Mapping[str, str]
    unused: tuple[str, ...] = ()

    def __str__(self) -> str:
        pairs = ", ".join(f"{field} = {column}" for field, column in self.columns.items())
        return pairs + (f"; not used: {', '.join(self.unused)}" if self.unused else "")


ReadOutcome = ItemRecord | BadRecord | RecordWarning | TakenColumns


@dataclass(frozen=True)
class ReleaseVote:
    """One judgement, its author under a pseudonym of this release.

    `foil` is the position in the item, None for a vote on the whole item; `caption_first` is None if no order was
    recorded.
    """

    item: str
    foil: int | None
    annotator: str
    choice: str
    subtest: str
    kind: Literal["main", "proficiency"] = "main"
    stage: str = "validation"
    caption_first: bool | None = None
    source: str = "person"
    simulated: bool = False
    state: str = "counted"
    seconds: float | None = None
    watch: Mapping[str, Any] = field(default_factory=dict)
    guideline: int | None = None
    # The subtest of these guidelines; "" for all subtests.
    guideline_of: str = ""
    # Agreement is measured on it; False if other votes of the subtest stopped early, or the pair got more votes.
    compared: bool = True


# Scores that only say which text won: 1 and 0.
WINNER = "winner"


@dataclass(frozen=True)
class ReleaseScore:
    """One model's scores of one released item: the caption, each foil, and the proficiency pair."""

    id: str
    model: str
    model_key: str
    protocol: str
    subtest: str
    caption: float
    foils: tuple[float, ...]
    kind: str
    higher_is_better: bool = True
    test: str = ""
    cluster: str = ""
    proficiency_caption: float | None = None
    proficiency_foils: tuple[float, ...] = ()
    # The name of its pair, of an item of two clips.
    pair: str = ""


@dataclass(frozen=True)
class ReleaseContent:
    """Everything that an exporter may write. `items` are the dicts of foilworks.core.corpus.release_records, each with
    its status;
    `tables` are JSON documents by name (reports computed above)."""

    project: str
    release: str
    content_hash: str
    created_at: str
    items: Collection[Mapping[str, Any]]
    votes: Collection[ReleaseVote] = ()
    scores: Collection[ReleaseScore] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    simulated: bool = False
    # The result of the blind audit at the freeze, with the override, if any.
    gate: Mapping[str, Any] | None = None
    # Released items whose video was taken down later: only this list contains them.
    withheld: tuple[Mapping[str, Any], ...] = ()
    # Authors, terms, datasheet, changelog, rejected candidates, figures.
    papers: ReleaseDocuments = field(default_factory=ReleaseDocuments)
    # The sentence that marks the release in training data.
    canary: str = ""
    # The part that is not here: {"items", "whole_hash"}; empty if nothing is held back.
    holdback: Mapping[str, Any] = field(default_factory=dict)


Stored = TypeVar("Stored")
Converted = TypeVar("Converted")


def _unchanged(value: Any) -> Any:
    return value


class StoredRecords(Collection[Stored], Generic[Stored]):
    """Records in a temporary file, which is deleted with this object; each iteration reads them again, one at a time.

    `dump` turns a record into a JSON value, and `load` turns that back. `sha256` is the hash of the file.
    """

    def __init__(
        self,
        records: Iterable[Stored],
        dump: Callable[[Stored], Any] = _unchanged,
        load: Callable[[Any], Stored] = _unchanged,
    ):
        self._load, self._ends, digest = load, array("Q", [0]), hashlib.sha256()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this object)
        weakref.finalize(self, self._file.close)
        for record in records:
            line = json.dumps(dump(record)).encode()
            digest.update(line)
            self._ends.append(self._ends[-1] + self._file.write(line))
        self.sha256 = digest.hexdigest()
        self._order: Sequence[int] = range(len(self._ends) - 1)
        self._source: StoredRecords[Any] | None = None

    def __iter__(self) -> Iterator[Stored]:
        return map(self._read, self._order)

    def __contains__(self, item: object) -> bool:
        return any(item == record for record in self)

    def __len__(self) -> int:
        return len(self._order)

    def at(self, positions: Iterable[int]) -> "StoredRecords[Stored]":
        """Return the records at these positions, in this order, from the same file."""
        view = copy(self)
        view._source, view._order = self, array("Q", (self._order[position] for position in positions))
        return view

    def where(self, is_selected: Callable[[Stored], bool]) -> "StoredRecords[Stored]":
        return self.at(position for position, record in enumerate(self) if is_selected(record))

    def in_order(self, key: Callable[[Stored], Any]) -> "StoredRecords[Stored]":
        # Of equal parts of keys, such as the names of people, one is in memory.
        shared: dict[Any, Any] = {}
        keys = [_sharing(key(record), shared) for record in self]
        return self.at(sorted(range(len(self)), key=keys.__getitem__))

    def each(self, convert: Callable[[Stored], Converted]) -> "StoredRecords[Converted]":
        """Return what `convert` makes of each record when it is read."""
        view: StoredRecords[Any] = copy(self)
        view._source, view._load = self, lambda value: convert(self._load(value))
        return view

    def _read(self, index: int) -> Stored:
        self._file.seek(self._ends[index])
        return self._load(json.loads(self._file.read(self._ends[index + 1] - self._ends[index])))


def _sharing(key: Any, shared: dict[Any, Any]) -> Any:
    """Return an equal key made of parts in `shared`, to which new ones are added."""
    parts = tuple(shared.setdefault(part, part) for part in (key if type(key) is tuple else (key,)))
    return parts if type(key) is tuple else parts[0]


def in_order(records: Iterable[Stored], key: Callable[[Stored], Any]) -> Iterator[Stored]:
    """Yield the records sorted by `key`; of stored records, only the keys are in memory together."""
    return iter(records.in_order(key) if isinstance(records, StoredRecords) else sorted(records, key=key))


class Records(Collection[ItemRecord]):
    """Records that are read again at each iteration."""

    def __init__(self, read: Callable[[], Iterator[ItemRecord]], n: int):
        self._read, self._n = read, n

    def __iter__(self) -> Iterator[ItemRecord]:
        return self._read()

    def __contains__(self, item: object) -> bool:
        return any(item == record for record in self)

    def __len__(self) -> int:
        return self._n


@dataclass(frozen=True)
class RecordContent:
    """A release, or a project as it is now (`release` and `content_hash` are then empty), as records in a fixed order.

    `facts`: what else the manifest says.
    """

    project: str
    release: str
    content_hash: str
    created_at: str
    records: Records
    simulated: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def items(self) -> Records:
        """Return the records, by the name that a release with votes and scores uses."""
        return self.records
