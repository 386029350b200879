"""Read the logs of evaluation harnesses: samples of lmms-eval, logs of Inspect, samples of Every Eval Ever.

An answer only says which text won; likelihoods are scores. Answers are read here, by the product's own reader, and not
taken from what the harness read: earlier exports read them by another rule. Only if a log has no options to read an
answer by, what it says of the answer counts.
"""

import ast
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.every_eval_ever import aggregate_of, samples_of
from evaluation.score_files.harness_shapes import (
    InspectHeader,
    InspectRun,
    InspectSample,
    LmmsResults,
    LmmsSample,
    LoggedAnswer,
)
from evaluation.score_files.joined_answers import Questions, completed
from evaluation.score_files.json_records import Row
from foilworks.core.corpus.import_formats.parsing.column_names import columns_of
from foilworks.core.corpus.import_formats.parsing.parquet_rows import parquet_library
from foilworks.core.corpus.import_formats.parsing.text_drafts import listed
from foilworks.core.text.model_answers import LETTERS, read_answer
from foilworks.core.text.quoting import quoted, shortened

EVAL_LOG = ".eval"
# Zip members of Inspect are compressed by Zstandard, which Python 3.11 cannot read.
ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")
MAX_MEMBER = 64 * 1024 * 1024
MAX_PROMPT = 2_000
INSPECT_MARKS = (b'"eval_id"', b'"plan"', b'"samples"')
# Words of the first record of a log, or of the head of a document.
MARKS = {
    ".jsonl": ((b'"doc_id"', b'"filtered_resps"'), (b'"evaluation_id"', b'"interaction_type"')),
    ".json": ((b'"evaluation_id"', b'"eval_library"'), INSPECT_MARKS),
}
# Columns of places in the data set and of options, in tables of answers.
PLACES, OPTION_COLUMNS = ("index", "doc_id"), tuple("abcdefghijABCDEFGHIJ")
Details = dict[str, str]


@dataclass
class HarnessLog:
    """Scores by item, the right text's first; `only_winners`: 1 and 0. `reasons`: by item, why its answer cannot be
    read; "" if it can. `details`: harness, version, model, prompt."""

    ids: list[str] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    only_winners: bool = True
    reasons: list[str] = field(default_factory=list)
    details: Details = field(default_factory=dict)


def is_harness_log(path: Path) -> bool:
    """Report whether a file is a log of a harness, by its ending or the words of its first record.

    A file that cannot be read is none: the reader of other forms says why.
    """
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in {EVAL_LOG, *MARKS}:
        return False
    if suffix == EVAL_LOG:
        return True
    return any(_has(path, marks) for marks in MARKS[suffix])


def _has(path: Path, marks: Sequence[bytes]) -> bool:
    """Report whether the first record, or the head of a document, has all of these words."""
    with path.open("rb") as file:
        head = file.readline(MAX_MEMBER) if path.suffix.lower() == ".jsonl" else file.read(MAX_MEMBER)
    return all(mark in head for mark in marks)


def read_harness_log(path: Path, questions: Questions | None = None) -> HarnessLog:
    """Read the log of one task as scores; `questions` give ids and options that the log lacks. EvaluationError: another
    task's log, or a broken one."""
    details, answers = logged_answers(path)
    return log_of(path, details, answers, questions)


def log_of(
    path: Path, details: Details, lines: Iterable[LoggedAnswer], questions: Questions | None = None
) -> HarnessLog:
    """Return answers as scores. EvaluationError: there is none, one without its right answer, or two of a question."""
    answers = [completed(answer, questions) if questions else answer for answer in lines]
    if not answers:
        raise EvaluationError(f"{path}: record: there is none; give the log of a finished run")
    log = HarnessLog(details=details, only_winners=not all(answer.likelihoods for answer in answers))
    log.details.setdefault("prompt", answers[0].question[:MAX_PROMPT])
    seen: set[str] = set()
    for answer in answers:
        if answer.id in seen:
            raise EvaluationError(
                f"{path}: id: {quoted(answer.id)} occurs twice; give the log of one task with one answer an item (one "
                "epoch)"
            )
        seen.add(answer.id)
        log.ids.append(answer.id)
        scores, reason = _scores(answer, only_winners=log.only_winners)
        log.scores.append(scores)
        log.reasons.append(reason)
    return log


def logged_answers(path: Path) -> tuple[Details, Iterator[LoggedAnswer]]:
    """Return what a log says of its run, and its answers in order. EvaluationError: a broken log, also on iteration."""
    suffix = path.suffix.lower()
    if suffix == EVAL_LOG or (suffix == ".json" and _has(path, INSPECT_MARKS)):
        details, answers = _inspect(path)
        return details, iter(answers)
    if suffix == ".json":
        path = aggregate_of(path)
    if _has(path, (b'"doc_id"',)):
        return {"harness": "lmms-eval", **_run_details(path)}, _lmms_eval(path)
    return samples_of(path)


def _scores(answer: LoggedAnswer, *, only_winners: bool) -> tuple[list[float], str]:
    """Return the scores, the right text's first, and why the answer cannot be read, if so."""
    right = answer.right
    if answer.likelihoods and right is not None:
        others = [value for index, value in enumerate(answer.likelihoods) if index != right]
        scores = [answer.likelihoods[right], *others]
        won, reason = scores[0] > max(others), ""
        if not only_winners:
            return scores, ""
    elif right is not None:
        reading = read_answer(answer.text, answer.options, finish_reason=answer.finish_reason)
        won, reason = reading.option == right, reading.reason
    elif answer.is_right is None:
        raise EvaluationError(
            f"{answer.where}: target: {quoted(shortened(answer.target))} is no option of the question's "
            f"{len(answer.options)}; give the log of a task that `foilworks export` wrote, or one with the questions "
            "of this release"
        )
    else:
        won, reason = answer.is_right, ""
    return [1.0, 0.0] if won else [0.0, 1.0], reason


def answer_of_row(row: Row, text_column: str = "prediction") -> LoggedAnswer:
    """Return the answer of a row of a table, such as a prediction of VLMEvalKit: its ids, also those inside its `doc`,
    its place in the data set, its question and options."""
    doc = row.fields.get("doc")
    fields = {**(doc if isinstance(doc, dict) else {}), **row.fields}
    names = (row.key, *(str(fields[name]) for name in ("item", *columns_of(fields, "id")) if name in fields))
    ids = [name for name in names if name]
    place = next((str(fields[name]) for name in PLACES if str(fields.get(name)).isdecimal()), "")
    question = str(fields.get("question") or "")
    options = [str(fields[letter]) for letter in OPTION_COLUMNS if fields.get(letter)] or _OPTION.findall(question)
    if not options and (column := next(iter(columns_of(fields, "options")), "")):
        values = listed(fields[column])
        options = list(map(str, values)) if isinstance(values, list) else []
    target = str(fields.get("answer", fields.get("target")) or "")
    return LoggedAnswer(
        f"{row.path}:{row.line}",
        ids[0] if ids else place,
        question,
        options,
        _place(options, target),
        text=str(row.fields.get(text_column) or ""),
        finish_reason=str(fields.get("finish_reason") or ""),
        ids=ids[1:],
        place=int(place) if place else None,
        target=target,
        video=next((str(fields[name]) for name in columns_of(fields, "video")), ""),
    )


def _lmms_eval(path: Path) -> Iterator[LoggedAnswer]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _sample(f"{path}:{number}", line)


def _sample(where: str, line: str) -> LoggedAnswer:
    try:
        row = LmmsSample.read(line)
    except ValueError as error:
        raise EvaluationError(f"{where}: {error}; give a samples file as lmms-eval wrote it") from error
    fields = row.named_fields()
    prompt = "\n".join(map(str, row.input)) if isinstance(row.input, list) else str(row.input or "")
    answer = LoggedAnswer(
        where,
        f"doc_id {row.doc_id}" if row.item is None else str(row.item),
        prompt or next((str(values["question"]) for values in fields if values.get("question")), ""),
        (),
        None,
        ids=[str(values[name]) for values in fields for name in columns_of(values, "id")],
        place=row.doc_id,
        target=str(row.target),
        facts={name: value for values in fields for name, value in values.items()},
        video=next((str(values[name]) for values in fields for name in columns_of(values, "video")), ""),
    )
    reply = row.filtered_resps
    while isinstance(reply, list) and len(reply) == 1 and not isinstance(reply[0], float):
        reply = reply[0]
    if isinstance(reply, list) and len(reply) > 1:
        likelihoods, right = _likelihoods(where, reply, row.target)
        return replace(answer, right=right, likelihoods=likelihoods)
    options = _OPTION.findall(prompt)
    return replace(answer, options=options, right=_place(options, answer.target), text=str(reply))


# A line of a question with an option: "A. a cup", "(A) a cup", "Option 1: a cup".
_OPTION = re.compile(r"^(?:\(?[A-Z][.)]|Option [A-Z1-9]:) (.+)$", re.MULTILINE)


def _place(options: Sequence[str], target: str) -> int | None:
    """Return the place of the option with this letter or text, if there is one."""
    if options.count(target) == 1:
        return options.index(target)
    at = LETTERS.find(target) if len(target) == 1 else -1
    return at if 0 <= at < len(options) else None


def _likelihoods(where: str, answers: Sequence[Any], target: Any) -> tuple[list[float], int]:
    """Return the options' scores, higher is better, and the place of the right one: losses are positive,
    log-likelihoods not."""
    try:
        values, right = [_number(answer) for answer in answers], int(target)
        _ = values[right]
    except (ValueError, SyntaxError, TypeError, IndexError) as error:
        raise EvaluationError(
            f"{where}: filtered_resps: {shortened(str(answers))} are not likelihoods; give a samples file as lmms-eval "
            "wrote it"
        ) from error
    return [-value for value in values] if min(values) >= 0 else values, right % len(values)


def _number(value: Any) -> float:
    """Return the number of (number, greedy); lmms-eval 0.7 writes the pair as a text."""
    number = ast.literal_eval(value) if isinstance(value, str) else value
    return float(number[0] if isinstance(number, list | tuple) else number)


def _run_details(path: Path) -> dict[str, str]:
    """Return version and model from the results file of the same run, if it is there."""
    stamp = path.name.partition("_samples_")[0]
    results_path = path.with_name(f"{stamp}_results.json")
    if stamp == path.name or not results_path.is_file() or results_path.stat().st_size > MAX_MEMBER:
        return {}
    try:
        results = LmmsResults.read(results_path.read_bytes())
    except ValueError:
        return {}
    model = results.config.get("model_args") or results.config.get("model")
    details = {"version": results.lmms_eval_version, "model": model}
    return {name: str(value) for name, value in details.items() if value}


def _inspect(path: Path) -> tuple[Details, list[LoggedAnswer]]:
    try:
        if path.suffix.lower() != EVAL_LOG:
            head = InspectHeader.read(path.read_bytes())
            named = [(f"sample {number}", sample) for number, sample in enumerate(head.samples or (), 1)]
            return _finished(path, head), [_logged(f"{path}: {name}", InspectSample.read(one)) for name, one in named]
        with zipfile.ZipFile(path) as archive:
            details = _finished(path, InspectHeader.read(_member(path, archive, "header.json")))
            names = sorted(member for member in archive.namelist() if member.startswith("samples/"))
            samples = ((name, InspectSample.read(_member(path, archive, name))) for name in names)
            return details, [_logged(f"{path}: {name}", sample) for name, sample in samples]
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, struct.error) as error:
        raise EvaluationError(
            f"{path}: is not a complete Inspect log ({error}); copy it again from its source"
        ) from error


def _finished(path: Path, head: InspectHeader) -> Details:
    """Return what is known of a run. EvaluationError: it did not finish."""
    if head.status != "success":
        status = shortened(head.status)
        raise EvaluationError(f"{path}: the run did not finish (status {status}); run the task to its end")
    return _inspect_details(head.eval)


def _inspect_details(ran: InspectRun) -> Details:
    details: dict[str, Any] = {"version": ran.packages.get("inspect_ai"), "model": ran.model, "task": ran.task}
    details["content_hash"] = (ran.metadata or {}).get("content_hash")
    return {"harness": "Inspect", **{name: str(value) for name, value in details.items() if value}}


def _logged(where: str, sample: InspectSample) -> LoggedAnswer:
    if not sample.scores:
        raise EvaluationError(f"{where}: scores: the sample has none; run the task to its end")
    options, target = sample.choices or [], "".join(sample.target)
    return LoggedAnswer(
        where,
        str(sample.id),
        _prompt(sample),
        options,
        _place(options, target),
        target=target,
        text=sample.output.completion or "",
        finish_reason=next((choice.stop_reason or "" for choice in sample.output.choices or ()), ""),
    )


def _prompt(sample: InspectSample) -> str:
    """Return the text of the first question."""
    content = next((message.content for message in sample.messages if message.role == "user"), "")
    texts = [content] if isinstance(content, str) else [block.text for block in content or ()]
    return "\n".join(text for text in texts if text)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of the archive. ValueError: it is larger than a sample can be."""
    info = archive.getinfo(name)
    if info.file_size > MAX_MEMBER:
        raise ValueError(f"{name} has {info.file_size:,} bytes")
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    return b"".join(_unpacked(_raw(path, info), info.file_size))


def _raw(path: Path, info: zipfile.ZipInfo) -> bytes:
    with path.open("rb") as file:
        file.seek(info.header_offset)
        names, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        file.seek(names + extra, 1)
        return file.read(info.compress_size)


def _unpacked(data: bytes, size: int) -> Iterator[bytes]:
    pyarrow, _parquet = parquet_library()
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
        yield stream.read(size)
