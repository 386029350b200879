"""Read predictions of a model that saw less and less of each video, and compute its evidence ladder."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.audit.records import Finding, Verdict, label_is_true
from evaluation.errors import EvaluationError
from evaluation.metrics import ladder
from evaluation.metrics.ties import hit, standing
from evaluation.score_files.json_records import Row
from evaluation.score_files.scores import read_choices
from evaluation.score_files.tables import Table
from foilworks.core.corpus.import_formats.parsing.answer_styles import is_number_label, label_of
from foilworks.core.corpus.import_formats.parsing.column_names import columns_of
from foilworks.core.corpus.records import TextRecord
from foilworks.core.text.model_answers import NO_OPTION, ModelAnswer, read_answer
from foilworks.core.text.quoting import quoted, shortened
from foilworks.core.text.tokens import words

Floats = NDArray[np.float64]
# Columns of answers and of row numbers; the second answer column is that of lmms-eval.
ANSWER_COLUMNS = ("prediction", "filtered_resps", "response", "resps")
ROW_NUMBERS = ("index", "doc_id")
SCORE_FIELDS = frozenset({"scores", "caption", "foils"})
# With a larger share of unreadable answers, a file has no number (evaluation/scoring/unread_answers.py).
MAX_UNREAD = 0.1
TABLES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson"})


def by_id(records: Iterable[TextRecord]) -> dict[str, TextRecord]:
    """Return the records by id; those without one by their number, from 0.

    EvaluationError: two records have the id, so that its prediction can belong to either.
    """
    record_by_id: dict[str, TextRecord] = {}
    for number, record in enumerate(records):
        key = record.id or str(number)
        if key in record_by_id:
            raise EvaluationError(
                f"two records have the id {quoted(key)}, so its prediction can belong to either; name a column of "
                "unique ids with --column id=NAME"
            )
        record_by_id[key] = record
    return record_by_id


@dataclass(frozen=True)
class RungAnswers:
    """Answers of one file: id -> credit of what can be read, id -> why the others cannot be read."""

    credits: Mapping[str, float]
    unread: Mapping[str, str] = field(default_factory=dict)


def read_rung(path: Path, items: Mapping[str, TextRecord], columns: Mapping[str, str]) -> RungAnswers:
    """Read a file of scores or of answers: a table, samples of lmms-eval, or predictions of VLMEvalKit.

    An answer is read by `foilworks.core.text.model_answers`; a number alone counts options from 0 or is a label. The
    right answers are those of the benchmark. A row belongs to the item of its id or, without a known id, of its number.
    EvaluationError: the file cannot be read, has no item of the benchmark, or answers other questions.
    """
    table = Table(path, columns) if path.suffix in TABLES else None
    text_column = next((name for name in ANSWER_COLUMNS if table is not None and name in table.names), "")
    if table is not None and text_column and not {"right", *SCORE_FIELDS}.intersection(table.names):
        answers = _read_answers(table, text_column, items)
    else:
        scores = read_choices(path, columns=columns)
        credits = hit(standing(scores.scores, scores.right), "half")
        answers = RungAnswers(dict(zip(scores.ids, map(float, credits), strict=True)))
    ids = answers.credits.keys() | answers.unread.keys()
    if not ids & items.keys():
        example_id = quoted(next(iter(ids), ""))
        raise EvaluationError(
            f"{path}: id: {example_id} and all others are not in the benchmark; give the ids of its items, or map them "
            "with --column id=NAME"
        )
    return answers


def _read_answers(table: Table, text_column: str, items: Mapping[str, TextRecord]) -> RungAnswers:
    credit_by_id: dict[str, float] = {}
    unread: dict[str, str] = {}
    numbered = list(items)
    for row in table.rows():
        name = _item_of(row, items, numbered)
        if name in credit_by_id or name in unread:
            row.fail("id", f"{quoted(name)} occurs twice", "give each item one answer")
        if name not in items:
            # Listed in the message if no item of the file is in the benchmark.
            credit_by_id[name] = 0.0
            continue
        answer = row.fields.get(text_column)
        while isinstance(answer, list) and answer:
            answer = answer[0]
        reading = _reading("" if answer is None else answer, items[name], str(row.fields.get("finish_reason") or ""))
        if reading.option is None:
            unread[name] = reading.reason
        else:
            credit_by_id[name] = float(reading.option == _right_index(items[name]))
    return RungAnswers(credit_by_id, unread)


def _item_of(row: Row, items: Mapping[str, TextRecord], numbered: Sequence[str]) -> str:
    """Return the item that a row answers: by an id, also inside its `doc`, or by its number."""
    doc = row.fields.get("doc")
    fields = {**(doc if isinstance(doc, Mapping) else {}), **row.fields}
    own_ids = [row.key, *(str(fields[name]) for name in ("item", *columns_of(fields, "id")) if name in fields)]
    name = next((own_id for own_id in own_ids if own_id in items), "")
    number = next((str(fields[name]) for name in ROW_NUMBERS if str(fields.get(name)).isdecimal()), "")
    if not name and number and int(number) < len(numbered):
        name = numbered[int(number)]
    question = fields.get("question")
    if name and isinstance(question, str) and not _same_words(question, items[name].question):
        row.fail(
            "question",
            f"is {quoted(shortened(question))}, but that of {quoted(name)} is "
            f"{quoted(shortened(items[name].question))}",
            "give answers to the questions of this benchmark, in its order or with its ids",
        )
    return name or next((own_id for own_id in own_ids if own_id), number)


def _same_words(first: str, second: str) -> bool:
    """Report whether one text is the beginning of the other, as harnesses add instructions to questions."""
    plain = sorted((" ".join(words(text)) for text in (first, second)), key=len)
    return not second or plain[1].startswith(plain[0])


def _right_index(record: TextRecord) -> int:
    return record.position or 0


def _reading(answer: object, record: TextRecord, finish_reason: str) -> ModelAnswer:
    """Read an answer to a record; yes or no of a label without options count as its two options."""
    at = _right_index(record)
    options = [*record.wrongs[:at], record.right, *record.wrongs[at:]]
    text = str(answer).strip()
    if record.is_label and ((is_number_label(answer) and record.position is None) or isinstance(answer, bool)):
        return ModelAnswer(at if label_of(answer) is label_is_true(record) else 1 - at)
    if re.fullmatch(r"\d{1,3}(?:\.0)?", text) and text not in options:
        number = int(float(text))
        return ModelAnswer(number) if number < len(options) else ModelAnswer(None, NO_OPTION)
    has_letters = record.position is not None or not record.is_label
    return read_answer(text, options, has_letters=has_letters, finish_reason=finish_reason)


def ladder_of(
    rungs: Mapping[str, RungAnswers], items: Mapping[str, TextRecord], *, with_partly: bool = False
) -> dict[str, Any]:
    """Return the ladder over the benchmark's items (evaluation/metrics/ladder.py). Clusters are videos.

    Each rung with unreadable answers has `n_unread` and `all_wrong`, its T if all of them are wrong; T leaves them out.
    EvaluationError: no scores of the full clip, or, unless `with_partly`, a rung with more than MAX_UNREAD unreadable
    answers.
    """
    if ladder.FULL not in rungs:
        raise EvaluationError("the ladder needs scores of the full clip; give them with --predictions FILE")
    names = list(items)
    credit: dict[str, Floats] = {
        rung: np.array([answers.credits.get(name, np.nan) for name in names]) for rung, answers in rungs.items()
    }
    for rung, answers in rungs.items():
        if len(answers.unread) > MAX_UNREAD * len(names) and not with_partly:
            first, why = next(iter(answers.unread.items()))
            raise EvaluationError(
                f"{rung}: {len(answers.unread)} of {len(names)} answers cannot be read (the first, of {quoted(first)}: "
                f"{why}); correct the file, or use the others with --set partly=1"
            )
    chance = np.array([1 / record.n_options for record in items.values()])
    clusters = [record.video or f"item {name}" for name, record in items.items()]
    result = ladder.compute(ladder.LadderScores(credit, chance, clusters))
    for rung, row in result["rungs"].items():
        if n_unread := len(rungs[rung].unread.keys() & items.keys()):
            row |= {"n_unread": n_unread, "all_wrong": row["T"] * result["n"] / (result["n"] + n_unread)}
    return result


def findings_of(result: Mapping[str, Any]) -> list[Finding]:
    """Return one finding per rung: warn if a rung below the full clip is not clearly worse than it."""
    rows = []
    for rung, row in result["rungs"].items():
        drop = row["drop_ci"]
        needless = rung != ladder.FULL and (drop is None or drop[0] <= 0)
        details = {"unit": "items", "rung": rung, "drop": row["drop"], "drop_ci": drop}
        details |= {name: row[name] for name in ("n_unread", "all_wrong") if name in row}
        verdict: Verdict = "warn" if needless else "nothing_found"
        rows.append(Finding("ladder", verdict, row["T"], row["ci"], result["chance"], result["n"], "", details))
    return rows


def parse_rungs(options: Sequence[str]) -> dict[str, Path]:
    """Parse `shuffled=FILE`. EvaluationError: no such rung, or a rung occurs twice."""
    path_by_rung: dict[str, Path] = {}
    for option in options:
        name, equals, path = option.partition("=")
        rung = name.strip().replace("-", "_")
        if not equals or not path or rung not in ladder.RUNGS or rung in path_by_rung:
            raise EvaluationError(
                f"rung {quoted(option)} is not valid; give each rung once as NAME=FILE, with one of: "
                f"{', '.join(ladder.RUNGS)}"
            )
        path_by_rung[rung] = Path(path)
    return path_by_rung
