"""`mvbench`: the JSON files of MVBench, one per task: a list of `video, question, candidates, answer`.

The name of the file (`action_sequence`) is the subtest. The files have no ids: an item is named by the task and its
place in the list, from 0. `answer` is the text of the right candidate. `start` and `end` are seconds of the video.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import Member, members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import (
    Question,
    clip_of,
    index_of_text,
    item_of,
    option_texts,
)
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    read_records,
    stem_of,
)
from foilworks.core.corpus.records import ItemRecord, ReadOutcome

DATASET = "MVBench"
_FIELDS = frozenset({"video", "question", "candidates", "answer", "start", "end"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The questions of a task. CorpusError, with the line, when the file is not whole JSON."""
    subtest = default_subtest(path, params)
    raw = _number_questions(members(path, read_text(path)))
    yield from read_records(path, raw, lambda record: _parse(record, subtest))


def _number_questions(questions: Iterable[Member]) -> Iterator[RawRecord]:
    for number, member in enumerate(questions):
        yield RawRecord(member.key or str(number), member.value, member.line)


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = Fields(raw.value)
    file = fields.media_name("video")
    if not file:
        raise ProblemError("video", "is missing", "give the name of the video")
    options = option_texts("candidates", fields.get("candidates"))
    start, end = fields.time("start"), fields.time("end")
    if end is not None and end <= (start or 0.0):
        raise ProblemError("end", f"is {end:g}, not after start", "correct the trim")
    right = index_of_text("answer", fields.get("answer"), options)
    return item_of(
        Question(fields.sentence("question"), options, right, subtest),
        item_id=checked_id("id", f"{subtest}:{raw.key}"),
        subtest=subtest,
        video=clip_of(DATASET, stem_of(file), file=file, start=start, end=end),
        extra=fields.without(_FIELDS),
        line=raw.line,
    )
