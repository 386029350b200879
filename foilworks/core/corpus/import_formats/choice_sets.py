"""Published sets of one caption with several foils.

`contrast`: multiple choice as in the contrast sets for MSR-VTT (contrast sets, Sec. 4.1): tab-separated
`clip, ending0 … ending4, label` and sometimes `c_label`. `label` is the number of the true ending, the others are its
foils in the order of the file. `label`, `c_label` (the ending that the contrast set put there) and further columns are
stored, so that the endings can be put in order again. `made_by` (machine or person) becomes a fact of each item, which
the distribution of verbs compares.

`feint6k`: the CSV files of Feint6K (Feint6K, Sec. 3.2): `video_id, sentence`, six rows per video, the positive caption
first and then its five counterfactuals. Rows of one video that are together are its block; where they are not a
multiple of six the block is bad, and the next video is read as if nothing had happened. Further columns are stored from
the block's first row.

`foil-coco`: `{"images": […], "annotations": […]}` of FOIL-COCO. An annotation with `foil: false` is a caption of COCO,
those with `foil: true` and the same `id` are its foils, in each of which `foil_word` stands for `target_word`. Where a
file has the foil alone, its caption is restored by putting `target_word` in again. The clip is a still picture: items
are scored and reported, not shown.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content, check_sentence
from foilworks.core.corpus.import_formats.parsing.formats import File, Format
from foilworks.core.corpus.import_formats.parsing.json_records import members_of, read_text
from foilworks.core.corpus.import_formats.parsing.questions import clip_of
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, checked_id, picture_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord
from foilworks.core.text.quoting import quoted

_ENDING = re.compile(r"ending[0-9]+")
CONTRAST_LABELS = ("label", "c_label")
FEINT6K_BLOCK = 6


def _contrast_rows(file: File) -> Iterator[RawRecord]:
    names = ("clip", *CONTRAST_LABELS)
    yield from read_rows(file.path, ["clip", "ending0", "ending1", "label"], TAB, names=names)


def _contrast_item(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    clip = checked_id("clip", fields.label("clip", MAX_ID))
    columns = _endings(file.path, raw.value)
    endings = tuple(check_sentence(name, fields.get(name)) for name in columns)
    labels = {
        name: _ending_number(fields, name, len(endings)) for name in CONTRAST_LABELS if fields.get(name) is not None
    }
    if "label" not in labels:
        raise ProblemError("label", "is missing", f"give the number of the true ending, 0 to {len(endings) - 1}")
    truth = labels["label"]
    return ItemRecord(
        id=checked_id("clip", f"{file.subtest}:{file.names.name(clip, (endings, truth))}"),
        subtest=file.subtest,
        video=clip_of(file.dataset, clip, file=fields.media_name("clip")),
        caption=endings[truth],
        foils=endings[:truth] + endings[truth + 1 :],
        facts={"made_by": made_by} if (made_by := file.params.get("made_by")) else {},
        extra={**labels, **fields.without(frozenset({"clip", *CONTRAST_LABELS, *columns}))},
        line=raw.line,
    )


def _endings(path: Path, row: Mapping[str, Any]) -> list[str]:
    """Return the columns of the endings: ending0, ending1 … CorpusError: there is a gap."""
    endings = [name for name in row if _ENDING.fullmatch(name)]
    columns = [f"ending{number}" for number in range(len(endings))]
    if set(columns) != set(endings):
        missing = ", ".join(name for name in columns if name not in endings)
        raise CorpusError(f"{path}:1: header: has no column {missing}; number the endings from 0 up")
    return columns


def _ending_number(fields: Fields, name: str, n_endings: int) -> int:
    text = str(fields.get(name)).strip()
    if not re.fullmatch(r"[0-9]{1,3}", text) or int(text) >= n_endings:
        fix = f"give the number of an ending, 0 to {n_endings - 1}"
        raise ProblemError(name, f"is {quoted(text)}", fix)
    return int(text)


def _feint6k_blocks(file: File) -> Iterator[RawRecord]:
    rows = read_rows(file.path, ["video_id", "sentence"], COMMA, names=("video_id",))
    for video, video_rows in groupby(rows, key=lambda row: row.value.get("video_id")):
        block = list(video_rows)
        first = block[0].line
        broken = next((row for row in block if row.problem), None)
        if broken is not None:
            yield RawRecord(None, None, broken.line, broken.problem, "row")
        elif video is None:
            yield RawRecord(None, None, first, "is missing", "video_id")
        elif len(block) % FEINT6K_BLOCK:
            problem = (
                f"{quoted(video)} has {len(block)} rows together, not {FEINT6K_BLOCK}: one caption and its five foils"
            )
            yield RawRecord(None, None, first, problem, "video_id")
        else:
            for start in range(0, len(block), FEINT6K_BLOCK):
                item_rows = block[start : start + FEINT6K_BLOCK]
                sentences = {f"sentence {row.line}": row.value["sentence"] for row in item_rows}
                yield RawRecord(video, {"sentences": sentences, "first": item_rows[0].value}, item_rows[0].line)


def _feint6k_item(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value["first"])
    video = checked_id("video_id", fields.label("video_id", MAX_ID))
    texts = tuple(_sentence_of_line(name, value) for name, value in raw.value["sentences"].items())
    return ItemRecord(
        id=checked_id("video_id", f"{file.subtest}:{file.names.name(video, texts)}"),
        subtest=file.subtest,
        video=clip_of(file.dataset, video, file=fields.media_name("video_id")),
        caption=texts[0],
        foils=texts[1:],
        extra=fields.without(frozenset({"video_id", "sentence"})),
        line=raw.line,
    )


def _sentence_of_line(name: str, value: Any) -> str:
    """Return the text. ProblemError names the line of a bad one, since a record has six of them."""
    try:
        return check_sentence("sentence", value)
    except ProblemError as error:
        raise ProblemError("sentence", f"on line {name.partition(' ')[2]} {error.problem}", error.fix) from error


def _foil_coco_blocks(file: File) -> Iterator[RawRecord]:
    """Yield the annotations of one caption together, at the line of the first; bad ones come before them."""
    blocks: dict[str, list[Any]] = {}
    lines: dict[str, int] = {}
    for kind, value, line in members_of(file.path, read_text(file.path), "images", "annotations"):
        if kind == "images":
            if isinstance(value, dict):
                file.facts[str(value.get("id"))] = str(value.get("file_name") or "")
        elif not isinstance(value, dict) or "id" not in value:
            yield RawRecord(None, None, line, "is not an object with an id", "annotations")
        else:
            lines.setdefault(str(value["id"]), line)
            blocks.setdefault(str(value["id"]), []).append(value)
    yield from (RawRecord(key, {"block": block}, lines[key]) for key, block in blocks.items())


def _foil_coco_item(file: File, raw: RawRecord) -> ItemRecord:
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
    picture = {"file_name": file.facts.get(image) or image}
    check_content(picture, "image")
    return ItemRecord(
        id=checked_id("id", f"{file.subtest}:{raw.key}"),
        subtest=file.subtest,
        video=picture_of("COCO", Fields(picture, "image").label("file_name", MAX_ID)),
        caption=next(iter(captions)),
        foils=tuple(fields.sentence("caption") for fields in foils),
        extra={"foils": [fields.without(frozenset({"caption", "image_id", "id", "foil"})) for fields in foils]},
        line=raw.line,
    )


def _restore_caption(foil: Fields) -> str:
    """Return the caption behind a foil that came without it."""
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


CONTRAST = Format(_contrast_rows, _contrast_item, own_ids=False)
FEINT6K = Format(_feint6k_blocks, _feint6k_item, own_ids=False)
FOIL_COCO = Format(_foil_coco_blocks, _foil_coco_item)
