"""Published benchmarks with two true captions per record, each of which becomes an item of its own.

`winoground`: two captions and two still pictures (`{"id", "caption_0", "caption_1", "image_0", "image_1", "tag" …}`),
as JSON lines or one JSON list. `vinoground`: a table of two captions and two clips, `index, major, minor, pos_cap,
neg_cap`; `0_pos` has the clip `0_pos.mp4`, unless a column `pos_video` names another file; items are in the subtest
`major`, which is the first of a row's categories, and the file's name is their test. `eqben`: `image0, caption0,
image1, caption1` in a list or grouped by video; of a list of captions, the first is used, as in the published code; a
picture saved as an array (`.npy`) is a clip like any other. The foil of each item is the caption of the other one, and
both have the record as their pair.

`bla`: one file per task, `[{"image_id", "caption_group": [{"True1", "True2", "False1", "False2"}]}]`. Each true
sentence becomes an item with both false ones as its foils; `facts.group` joins the two. Items are `FILE:IMAGE:1` and
`:2`, further groups of an image get `IMAGE#2`.

Pictures are clips without a video file: their items are scored and reported, not shown.
"""

from collections.abc import Iterator
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.formats import File, Format, json_members
from foilworks.core.corpus.import_formats.parsing.questions import required_label
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    json_lines,
    picture_of,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, SEMICOLON, TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord

_SIDES = ("0", "1")
WINOGROUND_FIELDS = frozenset(
    {"id", "subtest", *(f"{name}_{side}" for name in ("caption", "image") for side in _SIDES)}
)
_VINOGROUND_SIDES = ("pos", "neg")
_VINOGROUND_FIELDS = frozenset(
    {"index", *(f"{side}_{name}" for side in _VINOGROUND_SIDES for name in ("cap", "video"))}
)
_EQBEN_FIELDS = frozenset(f"{name}{side}" for name in ("image", "caption") for side in _SIDES)
_EQBEN_MAX_NESTING = 4
_BLA_TRUE = {"1": "True1", "2": "True2"}
_BLA_FALSE = ("False1", "False2")


def _winoground_records(file: File) -> Iterator[RawRecord]:
    yield from json_members(file) if file.path.suffix.lower() == ".json" else json_lines(file.path)


def _winoground_items(file: File, raw: RawRecord) -> tuple[ItemRecord, ...]:
    fields = Fields(raw.value)
    name = fields.label("id", MAX_ID) or (raw.key if raw.key is not None else f"line-{raw.line}")
    subtest = fields.label("subtest", MAX_ID) or file.subtest
    captions = [fields.sentence(f"caption_{side}") for side in _SIDES]
    pictures = [_picture(fields, f"image_{side}") for side in _SIDES]
    return tuple(
        ItemRecord(
            id=checked_id("id", f"{subtest}:{name}_{k}"),
            subtest=subtest,
            video=picture_of("Winoground", pictures[k]),
            caption=captions[k],
            foils=(captions[1 - k],),
            extra=fields.without(WINOGROUND_FIELDS),
            pair=checked_id("id", name),
            line=raw.line,
        )
        for k in (0, 1)
    )


def _picture(fields: Fields, image: str) -> str:
    name = fields.label(image, MAX_ID)
    if not name:
        raise ProblemError(image, "is missing", "give the picture's name")
    return name


def _vinoground_rows(file: File) -> Iterator[RawRecord]:
    delimiters = COMMA + SEMICOLON + TAB
    yield from read_rows(file.path, ["index", "pos_cap", "neg_cap"], delimiters, names=("index", "major"))


def _vinoground_items(file: File, raw: RawRecord) -> tuple[ItemRecord, ...]:
    fields, test = Fields(raw.value), default_subtest(file.path, {})
    name = checked_id("index", fields.label("index", MAX_ID))
    subtest = str(file.params.get("subtest") or "") or fields.label("major", MAX_LABEL).strip() or test
    captions = [fields.sentence(f"{side}_cap") for side in _VINOGROUND_SIDES]
    return tuple(
        ItemRecord(
            id=checked_id("index", f"{subtest}:{name}_{side}"),
            subtest=subtest,
            test=test,
            video=video_of("Vinoground", fields.media_name(f"{side}_video") or f"{name}_{side}.mp4"),
            caption=captions[k],
            foils=(captions[1 - k],),
            extra=fields.without(_VINOGROUND_FIELDS),
            pair=name,
            line=raw.line,
        )
        for k, side in enumerate(_VINOGROUND_SIDES)
    )


def _eqben_records(file: File) -> Iterator[RawRecord]:
    for number, member in enumerate(json_members(file)):
        name = str(number) if member.key is None else member.key
        for record_path, value in _inside(member.value, name, 0):
            yield from (RawRecord(f"{record_path}:{side}", value, member.line) for side in _SIDES)


def _inside(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the records within nested groups, each with its path of names."""
    is_record = isinstance(value, dict) and not _EQBEN_FIELDS.isdisjoint(value)
    if is_record or depth == _EQBEN_MAX_NESTING or not isinstance(value, dict | list):
        yield name, value
        return
    for key, inner_value in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _inside(inner_value, f"{name}/{key}", depth + 1)


def _eqben_item(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    record_path, _, side = (raw.key or "").rpartition(":")
    group, other_side = f"{file.subtest}:{record_path}", _SIDES[1 - _SIDES.index(side)]
    return ItemRecord(
        id=checked_id("id", f"{group}:{side}"),
        subtest=file.subtest,
        video=picture_of("EqBen", required_label(fields, f"image{side}")),
        caption=_first_caption(fields, f"caption{side}"),
        foils=(_first_caption(fields, f"caption{other_side}"),),
        facts={"group": group},
        pair=group,
        extra=fields.without(_EQBEN_FIELDS),
        line=raw.line,
    )


def _first_caption(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return check_sentence(name, value[0] if isinstance(value, list) and value else value)


def _bla_sentences(file: File) -> Iterator[RawRecord]:
    for member in json_members(file):
        groups = member.value.get("caption_group") if isinstance(member.value, dict) else None
        if not isinstance(groups, list) or not groups:
            yield RawRecord(None, None, member.line, "has no list caption_group with the sentences", "record")
            continue
        for group in groups:
            value = {**member.value, "caption_group": group}
            yield from (RawRecord(number, value, member.line) for number in _BLA_TRUE)


def _bla_item(file: File, raw: RawRecord) -> ItemRecord:
    record, number = Fields(raw.value), raw.key or ""
    fields = Fields(record.get("caption_group"), "caption_group")
    image = required_label(record, "image_id")
    if fields.get(_BLA_TRUE[number]) is None:
        raise ProblemError(fields.name(_BLA_TRUE[number]), "is missing", "give two true and two false sentences")
    foils = tuple(fields.sentence(name) for name in _BLA_FALSE)
    captions = tuple(fields.sentence(name) for name in _BLA_TRUE.values())
    group = f"{file.subtest}:{file.names.name(image, (*captions, *foils))}"
    own_extra = fields.without(frozenset({*_BLA_TRUE.values(), *_BLA_FALSE}))
    return ItemRecord(
        id=checked_id("image_id", f"{group}:{number}"),
        subtest=file.subtest,
        video=picture_of("Visual Genome", f"{image}.jpg"),
        caption=fields.sentence(_BLA_TRUE[number]),
        foils=foils,
        facts={"group": group},
        extra={**record.without(frozenset({"image_id", "caption_group"})), **own_extra},
        line=raw.line,
    )


WINOGROUND = Format(_winoground_records, _winoground_items)
VINOGROUND = Format(_vinoground_rows, _vinoground_items)
EQBEN = Format(_eqben_records, _eqben_item)
BLA = Format(_bla_sentences, _bla_item, own_ids=False)
