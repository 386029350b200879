"""`vatex`: the captions of VATEX to make foils for, `[{"videoID", "enCap": […], …}]`.

Each English caption is a record of its own; `captions=1` takes the first of each video alone. `videoID` ends in the
times of the film that the clip is from (`…_000122_000132`); the clips are published already cut. The file's name
states the split (`vatex_training_v1.0.json`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields
from foilworks.core.corpus.import_formats.parsing.json_records import Member, members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    read_records,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.records import ItemRecord, ReadOutcome

DATASET = "VATEX"


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The captions of a VATEX file. CorpusError, with the line, when it is not whole JSON."""
    subtest, max_captions = default_subtest(path, params), int(params.get("captions") or 0)
    split = split_of(path, params)
    raw = _captions(members(path, read_text(path)), max_captions)
    yield from read_records(path, raw, lambda record: _parse(record, subtest, split))


def _captions(videos: Iterable[Member], max_captions: int) -> Iterator[RawRecord]:
    for member in videos:
        value = member.value if isinstance(member.value, dict) else {}
        texts = value.get("enCap")
        if not isinstance(texts, list) or not texts:
            yield RawRecord(None, None, member.line, "has no list of captions", "enCap")
            continue
        for number, text in enumerate(texts[: max_captions or None], start=1):
            yield RawRecord(None, {"videoID": value.get("videoID"), "enCap": text, "number": number}, member.line)


def _parse(raw: RawRecord, subtest: str, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("videoID", fields.media_name("videoID"))
    number = raw.value["number"]
    return ItemRecord(
        id=checked_id("videoID", f"{subtest}:{name}" + (f"#{number}" if number > 1 else "")),
        subtest=subtest,
        video=replace(video_of(DATASET, name), split=split),
        caption=fields.sentence("enCap"),
        line=raw.line,
    )
