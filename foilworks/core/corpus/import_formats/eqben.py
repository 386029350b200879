"""`eqben`: the annotations of EqBen: records with `image0, caption0, image1, caption1`, in a list or grouped by video.

Each record becomes two items: the caption of each picture, with the caption of the other one as its foil. Both have the
record in `facts.group` and as their pair: EqBen's text score counts a record as right if both items are. Of a list of
captions, the first is used, as in the published code. A picture saved as an array (`.npy`) is a clip like any other.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, check_sentence
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import required_label
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    picture_of,
    read_records,
)
from foilworks.core.corpus.records import ItemRecord, ReadOutcome

DATASET = "EqBen"
_SIDES = ("0", "1")
_FIELDS = frozenset(f"{name}{side}" for name in ("image", "caption") for side in _SIDES)
_MAX_NESTING = 4


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Two items per record. CorpusError, with the line, when the file is not whole JSON."""
    subtest = default_subtest(path, params)
    yield from read_records(path, _records(path), lambda raw: _parse(raw, subtest))


def _records(path: Path) -> Iterator[RawRecord]:
    for number, member in enumerate(members(path, read_text(path))):
        name = str(number) if member.key is None else member.key
        for record_path, value in _inside(member.value, name, 0):
            yield from (RawRecord(f"{record_path}:{side}", value, member.line) for side in _SIDES)


def _inside(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The records within nested groups, each with its path of names."""
    is_record = isinstance(value, dict) and not _FIELDS.isdisjoint(value)
    if is_record or depth == _MAX_NESTING or not isinstance(value, dict | list):
        yield name, value
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner_value in inner:
        yield from _inside(inner_value, f"{name}/{key}", depth + 1)


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = Fields(raw.value)
    record_path, _, side = (raw.key or "").rpartition(":")
    other_side = _SIDES[1 - _SIDES.index(side)]
    group = f"{subtest}:{record_path}"
    return ItemRecord(
        id=checked_id("id", f"{group}:{side}"),
        subtest=subtest,
        video=picture_of(DATASET, required_label(fields, f"image{side}")),
        caption=_caption(fields, f"caption{side}"),
        foils=(_caption(fields, f"caption{other_side}"),),
        facts={"group": group},
        pair=group,
        extra=fields.without(_FIELDS),
        line=raw.line,
    )


def _caption(fields: Fields, name: str) -> str:
    value = fields.get(name)
    first = value[0] if isinstance(value, list) and value else value
    return check_sentence(name, first)
