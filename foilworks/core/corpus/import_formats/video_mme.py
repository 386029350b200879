"""`video-mme`: the questions of Video-MME, as JSON with the `questions` of each video, or one question per record.

The type of task (`Counting Problem`) is the subtest, the id the published one (`001-1`). Subtitles are not read: the
items ask about the video alone. `answer` is a letter. Model responses of a result file are ignored.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import (
    Question,
    clip_of,
    index_of_letter,
    item_of,
    option_texts,
    required_label,
)
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    json_lines,
    read_records,
)
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, ReadOutcome

DATASET = "Video-MME"
_LINES = frozenset({".jsonl", ".ndjson"})
_FIELDS = frozenset(
    {"video_id", "videoID", "duration", "domain", "sub_category", "questions", "question_id", "task_type"}
    | {"question", "options", "answer", "response"}
)


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The questions of the file. CorpusError, with the line, when it is not whole JSON."""
    subtest, fallback = str(params.get("subtest") or ""), default_subtest(path, params)
    if path.suffix.lower() in _LINES:
        raw: Iterable[RawRecord] = json_lines(path)
    else:
        raw = (RawRecord(*member) for member in members(path, read_text(path)))
    yield from read_records(path, _questions(raw), lambda record: _parse(record, subtest, fallback))


def _questions(records: Iterable[RawRecord]) -> Iterator[RawRecord]:
    """One record per question, each with the fields of its video."""
    for raw in records:
        questions = raw.value.get("questions") if isinstance(raw.value, dict) else None
        if not isinstance(questions, list):
            yield raw
            continue
        for question in questions:
            yield raw._replace(value={**raw.value, **question} if isinstance(question, dict) else question)


def _parse(raw: RawRecord, subtest: str, fallback: str) -> ItemRecord:
    fields = Fields(raw.value)
    kind, video = fields.label("task_type", MAX_LABEL), required_label(fields, "video_id")
    options = option_texts("options", fields.get("options"))
    right = index_of_letter("answer", fields.get("answer"), len(options))
    domain = fields.label("domain", MAX_ID)
    return item_of(
        Question(fields.sentence("question"), options, right, kind),
        item_id=checked_id("question_id", required_label(fields, "question_id")),
        subtest=subtest or kind or fallback,
        # The files of the videos have the ids of the site that they are from.
        video=clip_of(DATASET, fields.label("videoID", MAX_ID) or video, category=domain),
        facts={name: label for name in ("duration", "sub_category") if (label := fields.label(name, MAX_ID))},
        extra={**fields.without(_FIELDS), "video_id": video},
        line=raw.line,
    )
