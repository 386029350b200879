"""`moments`: the lists of Moments in Time, `blocking/getty-karate.mp4, blocking, 3, 0` without a header.

A row is a video without a caption: its file and class. The numbers of workers for and against the class are not kept.
Classes of several words are joined by "+" in the list ("playing+music"); they are stored with blanks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    read_records,
    video_alone,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, split_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome

DATASET = "Moments in Time"
YIELDS = "videos"
MIN_CELLS = 2


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the videos of the list. CorpusError: no such table."""
    split = split_of(path, params)
    yield from read_records(path, _rows(path), lambda record: _parse(record, split))


def _rows(path: Path) -> Iterator[RawRecord]:
    for line, cells in split_rows(path, COMMA):
        if len(cells) < MIN_CELLS:
            yield RawRecord(None, None, line, "has no second cell, the class", "row")
        elif cells[1].strip() != "label":
            yield RawRecord(None, {"filename": cells[0].strip(), "label": cells[1].strip()}, line)


def _parse(raw: RawRecord, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("filename", fields.media_name("filename"))
    label = checked_id("label", fields.label("label", MAX_ID))
    return video_alone(
        video_of(DATASET, name),
        split=split,
        class_label=label.replace("+", " "),
        line=raw.line,
    )
