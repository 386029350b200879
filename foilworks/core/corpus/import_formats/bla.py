"""`bla`: the annotation files of BLA, one per task: `[{"image_id", "caption_group": [{"True1", "True2", "False1",
"False2"}]}]`.

Two sentences are true of the picture and two are false. Each true one becomes an item with both false ones as its
foils; `facts.group` joins the two. Items are `FILE:IMAGE:1` and `:2`, further groups of an image get `IMAGE#2`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import required_label
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    picture_of,
    read_records,
)
from foilworks.core.corpus.records import ItemRecord, ReadOutcome

DATASET = "Visual Genome"
_TRUE = {"1": "True1", "2": "True2"}
_FALSE = ("False1", "False2")
_SENTENCES = frozenset({*_TRUE.values(), *_FALSE})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Two items per group of captions. CorpusError, with the line, when the file is not whole JSON."""
    subtest, names = default_subtest(path, params), Names()
    yield from read_records(path, _groups(path), lambda record: _parse(record, subtest, names), own_ids=False)


def _groups(path: Path) -> Iterator[RawRecord]:
    for member in members(path, read_text(path)):
        groups = member.value.get("caption_group") if isinstance(member.value, dict) else None
        if not isinstance(groups, list) or not groups:
            yield RawRecord(None, None, member.line, "has no list caption_group with the sentences", "record")
            continue
        for group in groups:
            value = {**member.value, "caption_group": group}
            yield from (RawRecord(number, value, member.line) for number in _TRUE)


def _parse(raw: RawRecord, subtest: str, names: Names) -> ItemRecord:
    record, number = Fields(raw.value), raw.key or ""
    fields = Fields(record.get("caption_group"), "caption_group")
    image = required_label(record, "image_id")
    if fields.get(_TRUE[number]) is None:
        raise ProblemError(fields.name(_TRUE[number]), "is missing", "give two true and two false sentences")
    foils = tuple(fields.sentence(name) for name in _FALSE)
    captions = tuple(fields.sentence(name) for name in _TRUE.values())
    group = f"{subtest}:{names.name(image, (*captions, *foils))}"
    return ItemRecord(
        id=checked_id("image_id", f"{group}:{number}"),
        subtest=subtest,
        video=picture_of(DATASET, f"{image}.jpg"),
        caption=fields.sentence(_TRUE[number]),
        foils=foils,
        facts={"group": group},
        extra={**record.without(frozenset({"image_id", "caption_group"})), **fields.without(_SENTENCES)},
        line=raw.line,
    )
