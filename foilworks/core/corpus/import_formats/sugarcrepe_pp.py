"""`sugarcrepe-pp`: the JSON files of SugarCrepe++: `id, filename, caption, caption2, negative_caption`.

Both captions are true of the picture. Each record becomes two items with the same foil, `FILE:ID:1` and `FILE:ID:2`:
the published image-text score counts a record as right if both are. `facts.group` joins them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import required_label
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    picture_of,
    read_records,
)
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome

DATASET = "COCO"
_CAPTIONS = {"1": "caption", "2": "caption2"}
_FIELDS = frozenset({"id", "filename", "caption", "caption2", "negative_caption"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Two items per record. CorpusError, with the line, when the file is not whole JSON."""
    subtest = default_subtest(path, params)
    raw = (
        RawRecord(number, member.value, member.line)
        for member in members(path, read_text(path))
        for number in _CAPTIONS
    )
    yield from read_records(path, raw, lambda record: _parse(record, subtest))


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields, number = Fields(raw.value), raw.key or ""
    picture = fields.label("filename", MAX_ID)
    if not picture:
        raise ProblemError("filename", "is missing", "give the picture's file name")
    group = f"{subtest}:{required_label(fields, 'id')}"
    return ItemRecord(
        id=checked_id("id", f"{group}:{number}"),
        subtest=subtest,
        video=picture_of(DATASET, picture),
        caption=fields.sentence(_CAPTIONS[number]),
        foils=(fields.sentence("negative_caption"),),
        facts={"group": group},
        extra=fields.without(_FIELDS),
        line=raw.line,
    )
