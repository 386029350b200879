"""`vinoground`: the table of Vinoground, two captions and two clips per row: `index`, `major`, `minor`, `pos_cap`,
`neg_cap` and further columns, which are kept.

Each row becomes two items that share its index as their pair name: `0_pos` with the clip `0_pos.mp4` and the caption of
`pos_cap`, whose foil is that of `neg_cap`, and `0_neg`, the reverse. Items are in the subtest `major`, which is the
first of a row's categories; the file's name is their test. A column `pos_video` or `neg_video` names another file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    read_several,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, SEMICOLON, TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, ReadOutcome

DATASET = "Vinoground"
SIDES = ("pos", "neg")
FIELDS = frozenset({"index", *(f"{side}_{what}" for side in SIDES for what in ("cap", "video"))})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the table, two per row. CorpusError when the file as a whole cannot be read."""
    subtest_name = str(params.get("subtest") or "")
    test = default_subtest(path, {})
    raw = read_rows(path, ["index", "pos_cap", "neg_cap"], COMMA + SEMICOLON + TAB, names=("index", "major"))
    yield from read_several(path, raw, lambda record: _parse(record, subtest_name, test))


def _parse(raw: RawRecord, subtest_name: str, test: str) -> tuple[ItemRecord, ItemRecord]:
    fields = Fields(raw.value)
    name = checked_id("index", fields.label("index", MAX_ID))
    subtest = subtest_name or fields.label("major", MAX_LABEL).strip() or test
    captions = [fields.sentence(f"{side}_cap") for side in SIDES]
    first_item, second_item = (
        ItemRecord(
            id=checked_id("index", f"{subtest}:{name}_{side}"),
            subtest=subtest,
            test=test,
            video=video_of(DATASET, fields.media_name(f"{side}_video") or f"{name}_{side}.mp4"),
            caption=captions[k],
            foils=(captions[1 - k],),
            extra=fields.without(FIELDS),
            pair=name,
            line=raw.line,
        )
        for k, side in enumerate(SIDES)
    )
    return first_item, second_item
