"""`didemo`: DiDeMo, `[{"annotation_id", "video", "description", "times": [[first, last], …], "num_segments"}]`.

Each description is a caption of one moment. Moments are spans of five-second segments, counted from 0, as several
annotators marked them. The clip is the span that most annotators marked, the first of equally frequent ones; all
marks are facts.
"""

from collections import Counter
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
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord

DATASET, SECONDS = "DiDeMo", 5
# The videos were cut to thirty seconds for the annotators.
MAX_SEGMENTS = 6


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read one record per description. CorpusError, with the line: the file is not complete JSON."""
    subtest, split = default_subtest(path, params), split_of(path, params)
    raw = (RawRecord(*member) for member in members(path, read_text(path)))
    yield from read_records(path, raw, lambda record: _parse(record, subtest, split))


def _parse(raw: RawRecord, subtest: str, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("video", fields.media_name("video"))
    spans = _spans(fields.get("times"))
    first, last = Counter(spans).most_common(1)[0][0]
    start, end = float(first * SECONDS), float((last + 1) * SECONDS)
    number = checked_id("annotation_id", fields.label("annotation_id", MAX_ID))
    return ItemRecord(
        id=checked_id("annotation_id", f"{subtest}:{number}"),
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
        caption=fields.sentence("description"),
        facts={"times": [list(span) for span in spans], "num_segments": fields.get("num_segments")},
        line=raw.line,
    )


def _spans(value: Any) -> list[tuple[int, int]]:
    if not isinstance(value, list) or not value:
        raise ProblemError("times", "is no list of spans", "give [[first, last]] in segments of five seconds")
    for index, span in enumerate(value):
        is_pair = isinstance(span, list) and len(span) == 2 and all(type(edge) is int for edge in span)
        if not is_pair or not 0 <= span[0] <= span[1] < MAX_SEGMENTS:
            raise ProblemError(f"times[{index}]", "is no span of segments", f"give two of 0 to {MAX_SEGMENTS - 1}")
    return [(span[0], span[1]) for span in value]
