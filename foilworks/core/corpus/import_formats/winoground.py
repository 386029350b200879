"""`winoground`: the examples of Winoground, two captions and two still pictures each
(`{"id", "caption_0", "caption_1", "image_0", "image_1", "tag" …}`), as JSON lines or one JSON list.

Each becomes two items that share the example's id as their pair name: picture 0 with caption 0, whose foil is caption
1, and the reverse. Pictures are clips without a video file: items are scored and reported, not shown.
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
    json_lines,
    picture_of,
    read_several,
)
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome

DATASET = "Winoground"
CAPTIONS = ("caption_0", "caption_1")
IMAGES = ("image_0", "image_1")
FIELDS = frozenset({"id", "subtest", *CAPTIONS, *IMAGES})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the examples, two for each. CorpusError when the file as a whole cannot be read."""
    subtest = default_subtest(path, params)
    raw = (RawRecord(*member) for member in members(path, read_text(path))) if _is_list(path) else json_lines(path)
    yield from read_several(path, raw, lambda record: _parse(record, subtest))


def _is_list(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _parse(raw: RawRecord, subtest: str) -> tuple[ItemRecord, ItemRecord]:
    fields = Fields(raw.value)
    name = fields.label("id", MAX_ID) or (raw.key if raw.key is not None else f"line-{raw.line}")
    subtest = fields.label("subtest", MAX_ID) or subtest
    captions = [fields.sentence(caption) for caption in CAPTIONS]
    pictures = [_picture(fields, image) for image in IMAGES]
    first_item, second_item = (
        ItemRecord(
            id=checked_id("id", f"{subtest}:{name}_{k}"),
            subtest=subtest,
            video=picture_of(DATASET, pictures[k]),
            caption=captions[k],
            foils=(captions[1 - k],),
            extra=fields.without(FIELDS),
            pair=checked_id("id", name),
            line=raw.line,
        )
        for k in (0, 1)
    )
    return first_item, second_item


def _picture(fields: Fields, image: str) -> str:
    name = fields.label(image, MAX_ID)
    if not name:
        raise ProblemError(image, "is missing", "give the picture's name")
    return name
