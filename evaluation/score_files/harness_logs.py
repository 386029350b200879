"""Read the logs of evaluation harnesses for tasks that `foilworks export` wrote: lmms-eval samples, Inspect logs.

An answer only says which text won; likelihoods are scores. Answers are read here, by the product's own reader, and not
taken from what the harness read: earlier exports read them by another rule.
"""

import ast
import re
import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.harness_shapes import (
    InspectHeader,
    InspectRun,
    InspectSample,
    LmmsResults,
    LmmsSample,
)
from foilworks.core.corpus.import_formats.parsing.parquet_rows import parquet_library
from foilworks.core.text.model_answers import LETTERS, read_answer
from foilworks.core.text.quoting import quoted, shortened

EVAL_LOG = ".eval"
# Zip members of Inspect are compressed by Zstandard, which Python 3.11 cannot read.
ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")
MAX_MEMBER = 64 * 1024 * 1024
MAX_PROMPT = 2_000


@dataclass
class HarnessLog:
    """Scores by item, the caption's first; `only_winners`: 1 and 0. `reasons`: by item, why its answer cannot be read;
    "" if it can. `details`: harness, version, model, prompt."""

    ids: list[str] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    only_winners: bool = True
    reasons: list[str] = field(default_factory=list)
    details: dict[str, str] = field(default_factory=dict)


def is_harness_log(path: Path) -> bool:
    """Report whether a file is a log of a harness, by its ending or its first record."""
    if path.suffix.lower() == EVAL_LOG:
        return True
    if path.suffix.lower() != ".jsonl":
        return False
    with path.open("rb") as file:
        first = file.readline(MAX_MEMBER)
    return b'"doc_id"' in first and b'"filtered_resps"' in first


def read_harness_log(path: Path) -> HarnessLog:
    """Read an lmms-eval samples file or an Inspect log. EvaluationError: another task's log, or a broken one."""
    log = _inspect(path) if path.suffix.lower() == EVAL_LOG else _lmms_eval(path)
    if not log.ids:
        raise EvaluationError(f"{path}: record: there is none; give the log of a finished run")
    seen: set[str] = set()
    for name in log.ids:
        if name in seen:
            raise EvaluationError(
                f"{path}: id: {quoted(name)} occurs twice; give the log of one task with one answer an item (one epoch)"
            )
        seen.add(name)
    return log


def _lmms_eval(path: Path) -> HarnessLog:
    log = HarnessLog(details={"harness": "lmms-eval", **_run_details(path)})
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                _add_sample(log, f"{path}:{number}", line)
    return log


def _add_sample(log: HarnessLog, where: str, line: str) -> None:
    try:
        row = LmmsSample.read(line)
    except ValueError as error:
        raise EvaluationError(
            f"{where}: item: the record names no item; give a samples file of a task that `foilworks export lmms-eval` "
            "wrote"
        ) from error
    name, answers, target, question = row.item, row.filtered_resps, row.target, row.input or ""
    log.details.setdefault("prompt", question[:MAX_PROMPT])
    log.ids.append(str(name))
    if isinstance(answers, list) and len(answers) > 1:
        log.only_winners = False
        log.scores.append(_likelihoods(where, answers, target))
        return
    text = (answers or [""])[0] if isinstance(answers, list) else answers
    _add_reading(log, where, str(text), _OPTION.findall(question), str(target))


# A line of the question that `foilworks export lmms-eval` writes.
_OPTION = re.compile(r"^[A-Z]\. (.+)$", re.MULTILINE)


def _add_reading(
    log: HarnessLog, where: str, text: str, options: Sequence[str], target: str, finish_reason: str = ""
) -> None:
    """Add which text won. EvaluationError: the options of the question, or the letter of the right one, are missing."""
    if len(target) != 1 or LETTERS.find(target) not in range(len(options)):
        raise EvaluationError(
            f"{where}: target: {quoted(target)} is no letter of the question's {len(options)} options; give the log of "
            "a task that `foilworks export` wrote"
        )
    answer = read_answer(text, options, finish_reason=finish_reason)
    log.reasons.append(answer.reason)
    log.scores.append([1.0, 0.0] if answer.option == LETTERS.find(target) else [0.0, 1.0])


def _likelihoods(where: str, answers: Sequence[Any], target: Any) -> list[float]:
    """Return the options' scores, the caption's first, higher is better: losses are positive, log-likelihoods not."""
    try:
        values = [_number(answer) for answer in answers]
        right_index = int(target)
        right = values.pop(right_index)
    except (ValueError, SyntaxError, TypeError, IndexError) as error:
        raise EvaluationError(
            f"{where}: filtered_resps: {shortened(str(answers))} are not likelihoods; give a samples file as lmms-eval "
            "wrote it"
        ) from error
    ordered = [right, *values]
    return [-value for value in ordered] if min(ordered) >= 0 else ordered


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


def _inspect(path: Path) -> HarnessLog:
    log = HarnessLog()
    try:
        with zipfile.ZipFile(path) as archive:
            head = InspectHeader.read(_member(path, archive, "header.json"))
            log.details = _inspect_details(head.eval)
            if head.status != "success":
                status = shortened(head.status)
                raise EvaluationError(f"{path}: the run did not finish (status {status}); run the task to its end")
            for name in sorted(member for member in archive.namelist() if member.startswith("samples/")):
                _add_answer(log, f"{path}: {name}", InspectSample.read(_member(path, archive, name)))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, struct.error) as error:
        raise EvaluationError(
            f"{path}: is not a complete Inspect log ({error}); copy it again from its source"
        ) from error
    return log


def _inspect_details(ran: InspectRun) -> dict[str, str]:
    details: dict[str, Any] = {"version": ran.packages.get("inspect_ai"), "model": ran.model, "task": ran.task}
    details["content_hash"] = (ran.metadata or {}).get("content_hash")
    return {"harness": "Inspect", **{name: str(value) for name, value in details.items() if value}}


def _add_answer(log: HarnessLog, where: str, sample: InspectSample) -> None:
    if not sample.scores:
        raise EvaluationError(f"{where}: scores: the sample has none; run the task to its end")
    log.details.setdefault("prompt", _prompt(sample))
    log.ids.append(str(sample.id))
    stopped = next((choice.stop_reason or "" for choice in sample.output.choices or ()), "")
    text = sample.output.completion or ""
    _add_reading(log, where, text, sample.choices, "".join(sample.target), stopped)


def _prompt(sample: InspectSample) -> str:
    """Return the text of the first question."""
    content = next((message.content for message in sample.messages if message.role == "user"), "")
    texts = [content] if isinstance(content, str) else [block.text for block in content or ()]
    return "\n".join(text for text in texts if text)[:MAX_PROMPT]


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
