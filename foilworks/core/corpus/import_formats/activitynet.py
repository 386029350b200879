"""`activitynet`: ActivityNet Captions, `{"v_…": {"duration", "timestamps": [[start, end]], "sentences": […]}}`.

Each sentence is a caption of the part of the video between its two times, in seconds.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.records import ItemRecord, ReadOutcome, VideoRecord

DATASET = "ActivityNet"


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read one record per sentence. CorpusError, with the line: the file is not complete JSON."""
    subtest, split = default_subtest(path, params), split_of(path, params)
    yield from read_records(path, _sentences(path), lambda record: _parse(record, subtest, split))


def _sentences(path: Path) -> Iterator[RawRecord]:
    for member in members(path, read_text(path)):
        value = member.value if isinstance(member.value, dict) else {}
        texts, times = value.get("sentences"), value.get("timestamps")
        if not isinstance(texts, list) or not isinstance(times, list) or len(texts) != len(times):
            yield RawRecord(None, None, member.line, "is not one pair of times per sentence", "timestamps")
            continue
        for number, (text, pair) in enumerate(zip(texts, times, strict=True), start=1):
            sentence_fields = {
                "video": member.key,
                "number": number,
                "sentence": text,
                "duration": value.get("duration"),
            }
            yield RawRecord(member.key, {**sentence_fields, "timestamps": pair}, member.line)


def _parse(raw: RawRecord, subtest: str, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("video", fields.media_name("video"))
    pair, number = fields.get("timestamps"), raw.value["number"]
    field_name = f"timestamps[{number - 1}]"
    if not isinstance(pair, list) or len(pair) != 2:
        raise ProblemError(field_name, "is not a pair of times", "give [start, end] in seconds")
    times = Fields({f"{field_name}[0]": pair[0], f"{field_name}[1]": pair[1]})
    start, end = times.time(f"{field_name}[0]"), times.time(f"{field_name}[1]")
    if start is None or end is None or end <= start:
        raise ProblemError(field_name, f"is {pair[0]} to {pair[1]}", "give an end after the start")
    return ItemRecord(
        id=checked_id("video", f"{subtest}:{name}" + (f"#{number}" if number > 1 else "")),
        subtest=subtest,
        video=VideoRecord(
            key=clip_key(DATASET, name, start, end, "sec"),
            file=name,
            source_dataset=DATASET,
            source_id=name,
            start_time=start,
            end_time=end,
            split=split,
        ),
        caption=" ".join(fields.sentence("sentence").split()),
        facts={"sentence": number, "duration": fields.time("duration")},
        line=raw.line,
    )
