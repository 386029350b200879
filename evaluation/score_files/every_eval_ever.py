"""Read samples of Every Eval Ever: the aggregate `UUID.json` of a run, and its answers in `UUID_samples.jsonl`."""

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path, PurePosixPath

from evaluation.errors import EvaluationError
from evaluation.score_files.harness_shapes import Aggregate, LoggedAnswer, Sample
from foilworks.core.corpus.records import WINNER
from foilworks.core.text.model_answers import LETTERS
from foilworks.core.text.quoting import quoted

SAMPLES = "_samples"
MAX_AGGREGATE = 64 * 1024 * 1024
NAME = "Every Eval Ever"


def aggregate_of(path: Path) -> Path:
    """Return the samples file of an aggregate. EvaluationError: it names none, or the file is not beside it."""
    aggregate = _aggregate(path)
    if aggregate is None or aggregate.detailed_evaluation_results is None:
        raise EvaluationError(f"{path}: detailed_evaluation_results: names no samples; give the file of the samples")
    samples = path.with_name(PurePosixPath(aggregate.detailed_evaluation_results.file_path).name)
    if not samples.is_file():
        raise EvaluationError(f"{path}: its samples {quoted(samples.name)} are not in its folder; give that file")
    return samples


def _aggregate(path: Path) -> Aggregate | None:
    if not path.is_file() or path.stat().st_size > MAX_AGGREGATE:
        return None
    try:
        return Aggregate.read(path.read_bytes())
    except ValueError:
        return None


def samples_of(path: Path) -> tuple[dict[str, str], Iterator[LoggedAnswer]]:
    """Return what is known of the run, and its answers. EvaluationError, also on iteration: another form of record."""
    with path.open(encoding="utf-8") as file:
        first = _sample(f"{path}:1", file.readline())
    details = {"harness": NAME, "model": first.model_id, "task": first.evaluation_id}
    if path.stem.endswith(SAMPLES) and (aggregate := _aggregate(path.with_name(f"{path.stem[: -len(SAMPLES)]}.json"))):
        details |= {"harness": aggregate.eval_library.name, "version": aggregate.eval_library.version}
    return details, _answers(path)


def _answers(path: Path) -> Iterator[LoggedAnswer]:
    """Yield one answer per sample. A sample counts for several results by a record for each, with the same answer."""
    first_of: dict[str, LoggedAnswer] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            answer = _answer(f"{path}:{number}", _sample(f"{path}:{number}", line))
            first = first_of.setdefault(answer.id, answer)
            if first is answer:
                yield answer
            elif _outcome(first) != _outcome(answer):
                raise EvaluationError(
                    f"{answer.where}: sample_id: the answer or result of {quoted(answer.id)} differs from "
                    f"{first.where}; give the samples of one run and one result"
                )


def _outcome(answer: LoggedAnswer) -> tuple[str, int | None, bool | None]:
    """Return what the score follows from."""
    return answer.text, answer.right, answer.is_right if answer.right is None else None


def _sample(where: str, line: str) -> Sample:
    try:
        return Sample.read(line)
    except ValueError as error:
        raise EvaluationError(f"{where}: {error}; give a samples file of {NAME} 0.2 or 0.3") from error


def _answer(where: str, sample: Sample) -> LoggedAnswer:
    options = sample.input.choices or []
    metadata = sample.metadata or {}
    # Our exports say so of answers whose text may not be known.
    right = None if metadata.get("kind") == WINNER else _place(options, _texts(sample.input.reference))
    score = sample.evaluation.score
    if right is None and score not in (0, 1):
        raise EvaluationError(
            f"{where}: evaluation.score: is {score:g}, and the sample has no choices with its reference; give samples "
            "with choices, or with scores of 0 and 1"
        )
    return LoggedAnswer(
        where,
        str(sample.sample_id),
        sample.input.raw,
        options,
        right,
        text=_response(where, sample),
        finish_reason=str(metadata.get("stop_reason") or ""),
        likelihoods=_scores(metadata.get("scores"), len(options)) if right is not None else (),
        is_right=sample.evaluation.is_correct,
    )


def _response(where: str, sample: Sample) -> str:
    """Return what the model wrote last. EvaluationError: there are several different responses."""
    if sample.output is None:
        turns = [turn.content or "" for turn in sample.messages or () if turn.role == "assistant"]
        return turns[-1] if turns else ""
    responses = list(dict.fromkeys(_texts(sample.output.raw)))
    if len(responses) > 1:
        raise EvaluationError(
            f"{where}: output.raw: has {len(responses)} different responses; give one answer per sample"
        )
    return responses[0] if responses else ""


def _scores(text: object, n: int) -> list[float]:
    """Return the scores that our exports give the choices; [] without them."""
    try:
        numbers = [float(value) for value in json.loads(text)] if isinstance(text, str) else []
    except (ValueError, TypeError, RecursionError):
        return []
    return numbers if len(numbers) == n > 1 and all(map(isfinite, numbers)) else []


def _texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _place(options: list[str], references: list[str]) -> int | None:
    """Return the place of the option that the only reference names by its text or letter."""
    if len(references) != 1 or len(options) < 2:
        return None
    (reference,) = references
    if reference in options:
        return options.index(reference)
    place = LETTERS.find(reference.strip()) if len(reference.strip()) == 1 else -1
    return place if 0 <= place < len(options) else None
