"""`kinetics`: the lists of Kinetics-400, -600 and -700, `label, youtube_id, time_start, time_end, split`.

The published JSON has the same by id: `{"abc": {"annotations": {"label", "segment"}, "subset"}}`. A row is a video
without a caption: its class and split, for reports about videos. The list of the test set has no column `label`. The
clip is the file that the usual download scripts cut, `YOUTUBEID_START_END`, both with six digits.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    given_dataset,
    read_records,
    video_alone,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import named_split, split_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

YIELDS = "videos"
_COLUMNS = ("youtube_id", "time_start", "time_end")
_NAMES = (*_COLUMNS, "label", "split")
_VERSION = re.compile(r"(?<!\d)[4-7]00(?!\d)")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the videos of the list. CorpusError: no such table."""
    version = _VERSION.search(path.stem)
    dataset = given_dataset(params) or "Kinetics" + (f"-{version[0]}" if version else "")
    split = split_of(path, params)
    raw = _members(path) if path.suffix.lower() == ".json" else read_rows(path, _COLUMNS, COMMA, names=_NAMES)
    yield from read_records(path, raw, lambda record: _parse(record, dataset, split))


def _members(path: Path) -> Iterator[RawRecord]:
    """Yield the entries of the JSON form as rows of the table."""
    for key, value, line in members(path, read_text(path)):
        fields = value if isinstance(value, Mapping) else {}
        annotations = fields.get("annotations")
        annotations = annotations if isinstance(annotations, Mapping) else {}
        segment = annotations.get("segment")
        if not isinstance(segment, list) or len(segment) != 2:
            yield RawRecord(key, None, line, "has no annotations.segment of start and end", "record")
            continue
        cells = dict(zip(_COLUMNS, (key, *map(str, segment)), strict=True))
        yield RawRecord(key, {**cells, "label": annotations.get("label"), "split": fields.get("subset")}, line)


def _parse(raw: RawRecord, dataset: str, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("youtube_id", fields.media_name("youtube_id"))
    start, end = (_seconds(fields, column) for column in ("time_start", "time_end"))
    clip = checked_id("youtube_id", f"{name}_{start:06d}_{end:06d}")
    return video_alone(
        video_of(dataset, clip),
        split=named_split(fields.get("split")) or split,
        class_label=fields.label("label", MAX_ID),
        line=raw.line,
    )


def _seconds(fields: Fields, name: str) -> int:
    text = fields.label(name, MAX_ID)
    try:
        return int(Fields({name: float(text)}).time(name) or 0)
    except ValueError as error:
        raise ProblemError(name, f"is {quoted(text)}", "give a number of seconds") from error
