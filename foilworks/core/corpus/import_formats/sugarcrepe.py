"""`sugarcrepe`: the JSON files of SugarCrepe, one per kind of edit (`swap_att.json` …):
`{"0": {"filename", "caption", "negative_caption"}}`.

The clip is a still picture of COCO: items are scored and reported, not shown. The name of the file is the subtest.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    picture_of,
    read_records,
)
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome

DATASET = "COCO"
FIELDS = frozenset({"filename", "caption", "negative_caption"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a SugarCrepe file. CorpusError, with the line, when it is not whole JSON."""
    subtest = default_subtest(path, params)
    raw = [RawRecord(*member) for member in members(path, read_text(path))]
    yield from read_records(path, raw, lambda record: _parse(record, subtest))


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = Fields(raw.value)
    picture = fields.label("filename", MAX_ID)
    if not picture:
        raise ProblemError("filename", "is missing", "give the picture's file name")
    own_id = raw.key if raw.key is not None else f"line-{raw.line}"
    return ItemRecord(
        id=checked_id("id", f"{subtest}:{own_id}"),
        subtest=subtest,
        video=picture_of(DATASET, picture),
        caption=fields.sentence("caption"),
        foils=(fields.sentence("negative_caption"),),
        extra=fields.without(FIELDS),
        line=raw.line,
    )
