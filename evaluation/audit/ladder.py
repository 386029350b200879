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
from evaluation.metrics.comparison import Difference, holm, paired_difference
from evaluation.metrics.intervals import mean
from evaluation.metrics.ties import hit, standing
from evaluation.score_files.harness_logs import answer_of_row, is_harness_log, logged_answers
from evaluation.score_files.harness_shapes import LoggedAnswer
from evaluation.score_files.joined_answers import Question, Questions, plain
from evaluation.score_files.scores import read_choices
from evaluation.score_files.tables import SUFFIXES, Table
from foilworks.core.corpus.import_formats.parsing.answer_styles import is_short_label, label_of
from foilworks.core.corpus.records import TextRecord
from foilworks.core.text.model_answers import NO_OPTION, ModelAnswer, read_answer
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float64]
# Columns of answers, as VLMEvalKit, lmms-eval and others write them.
ANSWER_COLUMNS = ("prediction", "filtered_resps", "response", "resps", "model_output")
SCORE_FIELDS = frozenset({"scores", "caption", "foils"})
# With a larger share of unreadable answers, a file has no number (evaluation/scoring/unread_answers.py).
MAX_UNREAD = 0.1
OF_BOUNDS = ("n_unread", "all_wrong", "all_right", "drop_bounds")
# What a comparison says if unreadable answers decide it. `CHANCE`: below the first rung.
CANNOT_TELL, CHANCE = "cannot_tell", "chance"
TABLES = frozenset({*SUFFIXES, ".json", ".jsonl", ".ndjson"})


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
    """Read a file of scores or of answers: a table, predictions of VLMEvalKit, or the log of a harness.

    An answer is read by `foilworks.core.text.model_answers`; a number alone counts options from 0 or is a label. The
    right answers are those of the benchmark. A row belongs to the item of its id, else of its place in the data set,
    else of its question (evaluation/score_files/joined_answers.py).
    EvaluationError: the file cannot be read, has no item of the benchmark, or answers other questions.
    """
    if is_harness_log(path):
        _details, logged = logged_answers(path)
        answers = _read_answers(((answer, answer.text) for answer in logged), items)
    else:
        answers = _of_table(path, items, columns)
    ids = answers.credits.keys() | answers.unread.keys()
    if not ids & items.keys():
        example_id = quoted(next(iter(ids), ""))
        raise EvaluationError(
            f"{path}: id: {example_id} and all others are not in the benchmark; give the ids of its items, or map them "
            "with --column id=NAME"
        )
    return answers


def _of_table(path: Path, items: Mapping[str, TextRecord], columns: Mapping[str, str]) -> RungAnswers:
    table = Table(path, columns) if path.suffix.lower() in TABLES else None
    text_column = next((name for name in ANSWER_COLUMNS if table is not None and name in table.names), "")
    if table is not None and text_column and not {"right", *SCORE_FIELDS}.intersection(table.names):
        return _read_answers(
            ((answer_of_row(row, text_column), row.fields.get(text_column)) for row in table.rows()), items
        )
    scores = read_choices(path, columns=columns)
    credits = hit(standing(scores.scores, scores.right), "half")
    return RungAnswers(dict(zip(scores.ids, map(float, credits), strict=True)))


def _read_answers(answers: Iterable[tuple[LoggedAnswer, object]], items: Mapping[str, TextRecord]) -> RungAnswers:
    """Read answers, each with its text or what else the file has."""
    questions = Questions([_question(name, record) for name, record in items.items()], is_ordered=True)
    credit_by_id: dict[str, float] = {}
    unread: dict[str, str] = {}
    for answer, said in answers:
        question = questions.find(answer)
        name = answer.id or answer.where if question is None else question.id
        if name in credit_by_id or name in unread:
            raise EvaluationError(f"{answer.where}: id: {quoted(name)} occurs twice; give each item one answer")
        if question is None:
            # Listed in the message if no item of the file is in the benchmark.
            credit_by_id[name] = 0.0
            continue
        credit = _credit(answer, said, items[name], question)
        if isinstance(credit, str):
            unread[name] = credit
        else:
            credit_by_id[name] = credit
    return RungAnswers(credit_by_id, unread)


def _question(name: str, record: TextRecord) -> Question:
    at = _right_index(record)
    options = [*record.wrongs[:at], record.right, *record.wrongs[at:]]
    return Question(name, record.question, options, at, video=record.video)


def _credit(answer: LoggedAnswer, said: object, record: TextRecord, question: Question) -> float | str:
    """Return the credit of an answer, or why it cannot be read. A log that showed the options in another order is read
    in that order."""
    while isinstance(said, list) and said:
        said = said[0]
    if answer.likelihoods and answer.right is not None:
        (credit,) = hit(standing(np.array([answer.likelihoods]), np.array([answer.right])), "half")
        return float(credit)
    shown = [plain(option) for option in answer.options]
    options = [plain(option) for option in question.options]
    if shown != options and sorted(shown) == sorted(options) and len(set(options)) == len(options):
        reading = read_answer(str(said), answer.options, finish_reason=answer.finish_reason)
        if reading.option is not None:
            reading = ModelAnswer(options.index(shown[reading.option]))
    else:
        reading = _reading("" if said is None else said, record, answer.finish_reason)
    return reading.reason if reading.option is None else float(reading.option == question.right)


def _right_index(record: TextRecord) -> int:
    return record.position or 0


def _reading(answer: object, record: TextRecord, finish_reason: str) -> ModelAnswer:
    """Read an answer to a record; yes or no of a label without options count as its two options."""
    at = _right_index(record)
    options = [*record.wrongs[:at], record.right, *record.wrongs[at:]]
    text = str(answer).strip()
    if record.is_label and ((is_short_label(answer) and record.position is None) or isinstance(answer, bool)):
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

    T leaves unreadable answers out. With any, `n_bounded` items are read or unreadable at every rung, and each rung has
    `all_wrong` and `all_right`: T over these items if its `n_unread` answers are wrong or right. Drops and parts have
    `bounds` then. If these answers decide what one of them says, it says CANNOT_TELL.
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
    unread = {rung: np.array([name in answers.unread for name in names]) for rung, answers in rungs.items()}
    if result["rungs"] and any(is_unread.any() for is_unread in unread.values()):
        _add_bounds(result, _Bounds.of(credit, unread, chance, clusters), unread)
    return result


@dataclass(frozen=True)
class _Bounds:
    """Credits (n,) by rung of the items that are read or unreadable at every rung, `CHANCE` among them. `low`:
    unreadable answers are wrong, `high`: they are right."""

    low: Mapping[str, Floats]
    high: Mapping[str, Floats]
    clusters: Sequence[str]

    @classmethod
    def of(
        cls,
        credit: Mapping[str, Floats],
        unread: Mapping[str, NDArray[np.bool_]],
        chance: Floats,
        clusters: Sequence[str],
    ) -> "_Bounds":
        known = np.all([~np.isnan(credit[rung]) | unread[rung] for rung in credit], axis=0)
        low, high = (
            {CHANCE: chance[known], **{rung: np.where(unread[rung], value, credit[rung])[known] for rung in credit}}
            for value in (0.0, 1.0)
        )
        return cls(low, high, [name for name, is_known in zip(clusters, known, strict=True) if is_known])

    def differences(self, rungs: Sequence[tuple[str, str]]) -> list[tuple[list[float], str]]:
        """Return, for each (lower, higher) rung, the bounds of what the higher one adds, and what they say together."""
        low, high = (
            [paired_difference(first[above], second[below], self.clusters) for below, above in rungs]
            for first, second in ((self.low, self.high), (self.high, self.low))
        )
        rows = []
        for pair in zip(_said(low), _said(high), [gap.value for gap in low], [gap.value for gap in high], strict=True):
            first, second, least, most = pair
            rows.append(([least or 0.0, most or 0.0], first if first == second else CANNOT_TELL))
        return rows


def _said(gaps: Sequence[Difference]) -> list[str]:
    p_values = holm([1.0 if gap.p is None else gap.p for gap in gaps])
    return [ladder.said(None if gap.ci is None else gap.value, p, gap.n) for gap, p in zip(gaps, p_values, strict=True)]


def _add_bounds(result: dict[str, Any], bounds: _Bounds, unread: Mapping[str, NDArray[np.bool_]]) -> None:
    """Add what the ladder says if unreadable answers are wrong, and if they are right."""
    result["n_bounded"] = len(bounds.clusters)
    for rung, row in result["rungs"].items():
        row |= {"all_wrong": mean(bounds.low[rung]), "all_right": mean(bounds.high[rung])}
        if n_unread := int(unread[rung].sum()):
            row["n_unread"] = n_unread
    lower = [rung for rung in result["rungs"] if rung != ladder.FULL]
    for rung in lower:
        # One comparison each, as the intervals of drops are.
        ((of_drop, say),) = bounds.differences([(rung, ladder.FULL)])
        result["rungs"][rung] |= {"drop_bounds": of_drop, "say": say}
    parts, diagnostics = result["parts"], result["diagnostics"]
    steps = [(part["low"] or CHANCE, part["high"]) for part in parts]
    for rows, pairs in (
        (parts, steps),
        (list(diagnostics.values()), [(ladder.DIAGNOSTICS[name], ladder.FULL) for name in diagnostics]),
    ):
        for row, (of_row, say) in zip(rows, bounds.differences(pairs), strict=True):
            row |= {"bounds": of_row, "say": say}


def findings_of(result: Mapping[str, Any]) -> list[Finding]:
    """Return one finding per rung: warn if a rung below the full clip is not clearly worse than it, and cannot tell if
    unreadable answers decide that."""
    rows = []
    for rung, row in result["rungs"].items():
        drop = row["drop_ci"]
        needless = rung != ladder.FULL and (drop is None or drop[0] <= 0)
        details = {"unit": "items", "rung": rung, "drop": row["drop"], "drop_ci": drop}
        details |= {name: row[name] for name in OF_BOUNDS if name in row}
        verdict: Verdict = "warn" if needless else "nothing_found"
        if row.get("say") == CANNOT_TELL:
            verdict = "cannot_tell"
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
