"""`nextqa`: the multiple-choice CSV files of NExT-QA: `video, question, answer, qid, type, a0 … a4`.

The type of the question (`CH`, `TN` …) is the subtest, its first letter (causal, temporal, descriptive) the test. The
id of an item is `VIDEO_QID`, as the published result files have it. `answer` is the number of the right option.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.questions import Question, clip_of, item_of, required_label
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, checked_id, default_subtest, read_records
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows
from foilworks.core.corpus.records import MAX_LABEL, ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

DATASET = "NExT-QA"
_OPTIONS = ("a0", "a1", "a2", "a3", "a4")
_COLUMNS = frozenset({"video", "question", "answer", "qid", "type", *_OPTIONS})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The questions of a NExT-QA file. CorpusError when the file as a whole cannot be read."""
    subtest = str(params.get("subtest") or "")
    needs = ["video", "question", "answer", "qid", *_OPTIONS]
    rows = read_rows(path, needs, COMMA, names=("video", "answer", "qid", "type"))
    raw = (RawRecord(None, row.cells, row.line, row.problem, "row") for row in rows)
    fallback = default_subtest(path, params)
    yield from read_records(path, raw, lambda record: _parse(record, subtest, fallback))


def _parse(raw: RawRecord, subtest: str, fallback: str) -> ItemRecord:
    fields = Fields(raw.value)
    video, kind = required_label(fields, "video"), fields.label("type", MAX_LABEL)
    options = [fields.sentence(name) for name in _OPTIONS]
    answer = fields.label("answer", MAX_LABEL)
    if answer not in {str(number) for number in range(len(options))}:
        problem = f"is {quoted(answer)}" if answer else "is missing"
        raise ProblemError("answer", problem, "give the number of an option, 0 to 4")
    question = Question(check_sentence("question", fields.get("question")), options, int(answer), kind)
    return item_of(
        question,
        item_id=checked_id("qid", f"{video}_{required_label(fields, 'qid')}"),
        subtest=subtest or kind or fallback,
        test=kind[:1],
        video=clip_of(DATASET, video),
        extra=fields.without(_COLUMNS),
        line=raw.line,
    )
