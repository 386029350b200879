"""`seed-bench`: `SEED-Bench.json`: `{"questions": […], "question_type": {NAME: NUMBER}}`, pictures and videos.

The name of the question's type is the subtest. Segments of type 11 are seconds, those of type 12 frames. A picture is a
clip without a video file. Questions about several pictures (SEED-Bench-2) are bad records: they are about no one clip.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, members_of, read_text
from foilworks.core.corpus.import_formats.parsing.questions import (
    Question,
    answer_index,
    clip_of,
    item_of,
    required_label,
)
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    picture_of,
    read_records,
    stem_of,
)
from foilworks.core.corpus.records import MAX_LABEL, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.quoting import quoted

_OPTIONS = ("choice_a", "choice_b", "choice_c", "choice_d")
_FIELDS = frozenset(
    {"answer", "data_id", "data_type", "question", "question_id", "question_type_id", "segment", *_OPTIONS}
)
_PICTURES = "CC3M"
_DATASETS = {"10": "Something-Something V2", "11": "EPIC-KITCHENS-100", "12": "Breakfast"}
_IN_FRAMES = "12"


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The questions, or those about one kind of media. CorpusError, with the line, when the file is not whole JSON."""
    text, media_kind = read_text(path), str(params.get("part") or "all")
    names = _types(path, text)
    raw = (RawRecord(None, member.value, member.line) for member in members_of(path, text, "questions"))
    if media_kind != "all":
        raw = (record for record in raw if not isinstance(record.value, dict) or _is_of(record.value, media_kind))
    yield from read_records(path, raw, lambda record: _parse(record, names))


def _is_of(value: Mapping[str, Any], media_kind: str) -> bool:
    return media_kind in str(value.get("data_type")).lower()


def _types(path: Path, text: str) -> dict[str, str]:
    """Number -> name of the types of question."""
    type_member = next((member for member in members(path, text) if member.key == "question_type"), None)
    if type_member is None or not isinstance(type_member.value, dict):
        raise CorpusError(f"{path}:1: question_type: is missing; give the whole published file")
    return {str(number): name for name, number in type_member.value.items()}


def _parse(raw: RawRecord, names: Mapping[str, str]) -> ItemRecord:
    fields = Fields(raw.value)
    number = required_label(fields, "question_type_id", MAX_LABEL)
    if number not in names:
        raise ProblemError("question_type_id", f"{quoted(number)} is not in question_type", "add it there")
    options = [fields.sentence(name) for name in _OPTIONS]
    right = answer_index(options, fields.get("answer"))
    return item_of(
        Question(fields.sentence("question"), options, right, names[number]),
        item_id=checked_id("question_id", required_label(fields, "question_id")),
        subtest=names[number],
        video=_clip(fields, number),
        extra=fields.without(_FIELDS),
        line=raw.line,
    )


def _clip(fields: Fields, number: str) -> VideoRecord:
    if isinstance(fields.get("data_id"), list):
        raise ProblemError("data_id", "is a list: the question is about several pictures", "leave the question out")
    name = required_label(fields, "data_id")
    if "image" in fields.label("data_type", MAX_LABEL).lower():
        return picture_of(_PICTURES, name)
    segment = fields.get("segment")
    start, end = _trim(segment) if segment is not None else (None, None)
    dataset = _DATASETS.get(number, "SEED-Bench")
    unit = "frames" if number == _IN_FRAMES and segment is not None else "sec"
    return clip_of(dataset, stem_of(name), file=fields.media_name("data_id"), start=start, end=end, unit=unit)


def _trim(segment: Any) -> tuple[float, float]:
    is_pair = isinstance(segment, list) and len(segment) == 2
    if not is_pair or any(isinstance(edge, bool) or not isinstance(edge, int | float) for edge in segment):
        raise ProblemError("segment", "is not a start and an end", "give [start, end]")
    start, end = segment
    if not 0 <= start < end:
        raise ProblemError("segment", f"is [{start:g}, {end:g}]", "give an end after the start")
    return float(start), float(end)
