"""`foil-coco`: the JSON files of FOIL-COCO: `{"images": […], "annotations": […]}`.

An annotation with `foil: false` is a caption of COCO, those with `foil: true` and the same `id` are its foils, in each
of which `foil_word` stands for `target_word`. Where a file has the foil alone, its caption is had back by putting
`target_word` in again. The clip is a still picture: items are scored and reported, not shown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.json_records import Member, members_of, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    picture_of,
    read_records,
)
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, ReadOutcome

DATASET = "COCO"


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The captions of a FOIL file with their foils. CorpusError, with the line: no such JSON."""
    subtest = default_subtest(path, params)
    pictures: dict[str, str] = {}
    annotations = []
    for member in members_of(path, read_text(path), "images", "annotations"):
        if member.key == "annotations":
            annotations.append(member)
        elif isinstance(member.value, dict):
            pictures[str(member.value.get("id"))] = str(member.value.get("file_name") or "")
    yield from read_records(path, _blocks(annotations), lambda raw: _parse(raw, subtest, pictures))


def _blocks(annotations: Iterable[Member]) -> Iterator[RawRecord]:
    """The annotations of one caption together, at the line of the first; one that is no object is a bad record."""
    blocks: dict[str, list[Any]] = {}
    first: dict[str, int] = {}
    for member in annotations:
        if not isinstance(member.value, dict) or "id" not in member.value:
            yield RawRecord(None, None, member.line, "is not an object with an id", "annotations")
            continue
        key = str(member.value["id"])
        first.setdefault(key, member.line)
        blocks.setdefault(key, []).append(member.value)
    for key, block in blocks.items():
        yield RawRecord(key, {"block": block}, first[key])


def _parse(raw: RawRecord, subtest: str, pictures: Mapping[str, str]) -> ItemRecord:
    block = [Fields(value) for value in raw.value["block"]]
    foils = [fields for fields in block if fields.get("foil") is True]
    if not foils:
        raise ProblemError("foil", "is true of none of its annotations", "give its foil, or import captions instead")
    originals = [fields.sentence("caption") for fields in block if fields.get("foil") is not True]
    captions = dict.fromkeys(originals or [_restore_caption(fields) for fields in foils])
    if len(captions) != 1:
        raise ProblemError("caption", f"is {len(captions)} different texts under one id", "give each its own id")
    image = foils[0].label("image_id", MAX_ID)
    if not image:
        raise ProblemError("image_id", "is missing", "give the picture's id")
    picture = {"file_name": pictures.get(image) or image}
    check_content(picture, "image")
    return ItemRecord(
        id=checked_id("id", f"{subtest}:{raw.key}"),
        subtest=subtest,
        video=picture_of(DATASET, Fields(picture, "image").label("file_name", MAX_ID)),
        caption=next(iter(captions)),
        foils=tuple(fields.sentence("caption") for fields in foils),
        extra={"foils": [fields.without(frozenset({"caption", "image_id", "id", "foil"})) for fields in foils]},
        line=raw.line,
    )


def _restore_caption(foil: Fields) -> str:
    """The caption behind a foil that came without it."""
    text = foil.sentence("caption")
    word, target = (foil.label(name, MAX_LABEL) for name in ("foil_word", "target_word"))
    matches = whole_word(word).findall(text) if word and target else []
    if len(matches) != 1:
        problem = f"is {len(matches)} times in the foil, so its caption cannot be restored"
        raise ProblemError("foil_word", problem, "add the annotation of the caption")
    return whole_word(word).sub(lambda _: target, text)


def whole_word(word: str) -> re.Pattern[str]:
    """Compile what finds the word as a whole."""
    return re.compile(rf"\b{re.escape(word)}\b")
