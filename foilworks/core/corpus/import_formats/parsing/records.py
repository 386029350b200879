"""Shared by all importers: unique ids, and warnings about doubtful records."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content, plays_to_the_end
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.corpus.import_formats.parsing.text_lines import MAX_LINE_BYTES, guessed_encoding, lines
from foilworks.core.corpus.import_formats.parsing.warnings import repeats_caption, warnings_of
from foilworks.core.corpus.records import (
    MAX_DATASET,
    MAX_ID,
    MAX_LABEL,
    BadRecord,
    ItemRecord,
    ReadOutcome,
    RecordWarning,
    VideoRecord,
)
from foilworks.core.text.quoting import quoted
from foilworks.core.text.spill import Spill

_HASHED_CHARACTERS = 16
_ID_CHARACTERS = 10
_ENCODER = json.JSONEncoder(default=str)
_TABLE_ENDINGS = frozenset({".csv", ".tsv"})


class RawRecord(NamedTuple):
    """A parsed record and the line it starts on; `problem` is why it, or its `field`, could not even be parsed."""

    key: str | None
    value: Any
    line: int
    problem: str = ""
    field: str = "JSON"
    fix: str = "correct the line"


def json_lines(path: Path) -> Iterator[RawRecord]:
    """The records of a file of JSON lines. CorpusError when the file as a whole cannot be read, or is a table."""
    first = True
    for number, line in lines(path):
        if first and line is not None and path.suffix.lower() in _TABLE_ENDINGS and line.lstrip()[:1] not in {"{", "["}:
            # One error, not one per line.
            raise CorpusError(f"{path}:{number}: file: looks like a table, not like JSON lines; choose CSV table (csv)")
        first = False
        if line is None:
            yield RawRecord(None, None, number, f"has more than {MAX_LINE_BYTES} bytes", "line")
            continue
        try:
            yield RawRecord(None, parse_line(line), number)
        except ValueError as error:
            yield RawRecord(None, None, number, str(error))


def read_records(
    path: Path, raw: Iterable[RawRecord], parse: Callable[[RawRecord], ItemRecord], *, own_ids: bool = True
) -> Iterator[ReadOutcome]:
    """The outcome of every record in order: warnings first, then the item, or why it is bad.

    Not `own_ids`: the format has none, and equal ids mean equal records (`Names`).
    """
    yield from read_several(path, raw, lambda record: (parse(record),), own_ids=own_ids)


def read_several(
    path: Path, raw: Iterable[RawRecord], parse: Callable[[RawRecord], Sequence[ItemRecord]], *, own_ids: bool = True
) -> Iterator[ReadOutcome]:
    """As `read_records`, of records that hold several items: all of them are taken, or none."""
    is_noted = False
    if encoding := guessed_encoding(path):
        yield RecordWarning(str(path), "encoding", f"is not UTF-8: read as {encoding}; check its accents and signs")
    with Spill() as first_line:
        for record in raw:
            location = f"{path}:{record.line}"
            try:
                if record.problem:
                    raise ProblemError(record.field, record.problem, record.fix)
                check_content(record.value)
                items = parse(record)
                for item in items:
                    _check_false(item)
                    _check_new(first_line, item, record.line, own_ids)
            except ProblemError as error:
                yield BadRecord(location, error.field, error.problem, error.fix)
                continue
            for item in items:
                yield from warnings_of(location, item)
            if not is_noted and isinstance(record.value, Mapping) and plays_to_the_end(record.value):
                # Once a file: all records of a published file may say so.
                is_noted, end = True, record.value["end_time"]
                yield RecordWarning(
                    location, "end_time", f"is {end:g}: this clip, and each like it, goes to the video's end"
                )
            yield from items


def _check_false(item: ItemRecord) -> None:
    """Refuse a foil that says the same as its caption, but for blanks and the Unicode form, if nobody judged it."""
    pairs = (("", item), *((("proficiency.", item.proficiency),) if item.proficiency else ()))
    for prefix, pair in pairs:
        if pair.votes is None and repeats_caption(pair):
            raise ProblemError(f"{prefix}foils", "a foil is equal to the caption", "change the foil or leave it out")


def _check_new(first_line: Spill, item: ItemRecord, line: int, own_ids: bool) -> None:
    earlier_line = first_line.setdefault(item.id, str(line))
    if earlier_line is not None and not own_ids:
        raise ProblemError("record", f"repeats the record on line {earlier_line}", "remove it")
    if earlier_line is not None:
        raise ProblemError("id", f"{quoted(item.id)} is already on line {earlier_line}", "give every record its own id")


def default_subtest(path: Path, params: Mapping[str, Any]) -> str:
    """The subtest of records that carry none: the parameter, else the stem of the file."""
    name = str(params.get("subtest") or path.stem)
    # A file name need not be UTF-8; what is no character cannot be stored.
    return name.encode("utf-8", "replace").decode("utf-8")[:MAX_LABEL]


def given_dataset(params: Mapping[str, Any]) -> str:
    """The data set of the videos, where the file has no column for it."""
    return str(params.get("dataset") or "")[:MAX_DATASET]


class Names:
    """Ids of records in a format that names only their video: the video's own, and `#2`, `#3` … for its further
    records. Equal records get the same id twice, and so the second is refused as one that is there already."""

    def __init__(self) -> None:
        self._contents_by_video: dict[str, list[Hashable]] = {}

    def name(self, video: str, content: Hashable) -> str:
        contents = self._contents_by_video.setdefault(video, [])
        if content not in contents:
            contents.append(content)
        number = contents.index(content) + 1
        return video if number == 1 else f"{video}#{number}"


def checked_id(name: str, value: str) -> str:
    """`value` when it can name a record."""
    if not value.strip():
        raise ProblemError(name, "is empty", "give every record its own id")
    if len(value) > MAX_ID:
        raise ProblemError(name, f"has {len(value)} characters, more than {MAX_ID}", "shorten it")
    return value


def stem_of(name: str) -> str:
    """A video's id where files spell it with the ending of its file."""
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending.lower() in {"mp4", "webm", "avi", "mkv", "mov"} else name


def video_of(dataset: str, name: str) -> VideoRecord:
    """A whole clip that its data set publishes as a file of its own."""
    key = clip_key(dataset, stem_of(name), None, None, "sec")
    return VideoRecord(key=key, file=name, source_dataset=dataset, source_id=stem_of(name))


def video_alone(video: VideoRecord, *, split: str, class_label: str, line: int) -> ItemRecord:
    """A video without a caption, with its split and class; the id is the key of the clip."""
    labelled = replace(video, split=split, class_label=class_label)
    return ItemRecord(id=checked_id("video", video.key), subtest="", video=labelled, caption="", line=line)


def picture_of(dataset: str, name: str) -> VideoRecord:
    """A still picture: a clip for which no video file is looked for; equal pictures of several files are one."""
    return VideoRecord(key=clip_key(dataset, name, None, None, "sec"), source_dataset=dataset, source_id=name)


def clip_key(dataset: str, source: str, start: float | None, end: float | None, unit: str) -> str:
    """The key that clips of equal source and trim share: `dataset/source@start-end`, pts and frames marked as such."""
    key = f"{dataset}/{source}" if dataset else source
    if start is not None or end is not None:
        edges = "-".join("" if edge is None else f"{edge:.12g}" for edge in (start, end))
        key += f"@{edges}" + ("" if unit == "sec" else unit)
    if len(key) > MAX_ID:
        digest = hashlib.sha256(key.encode("utf-8")).hexdigest()[:_HASHED_CHARACTERS]
        key = f"{key[: MAX_ID - _HASHED_CHARACTERS - 1]}#{digest}"
    return key


def made_id(record: Mapping[str, Any]) -> str:
    """The clip and a digest of the texts: the same in another order of the rows, so that importing again finds it."""
    source = record.get("source_id") or record.get("video") or record.get("url") or ""
    clip = [
        str(record.get("source_dataset", "")),
        str(source),
        *(record.get(name) for name in ("start_time", "end_time")),
    ]
    content = _ENCODER.encode([clip, record.get("caption"), record.get("foils"), record.get("subtest")])
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:_ID_CHARACTERS]
    return f"{clip_key('', str(source)[-150:], None, None, 'sec')}-{digest}"
