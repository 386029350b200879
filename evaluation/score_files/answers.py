"""Read answers instead of scores: predictions of UTD benchmarks, choices of multiple choice, and lists of ids.

Answers: `sample,class` and either `prediction` (or one such column per model, `prediction_NAME`), or `correct`,
`correct_1` ... (0 or 1, one column per model); `group` names samples that count together. Choices:
`id,prediction[,right]`, the index of the chosen candidate from 0; the right one is 0 unless `right` gives another
index. Both as CSV or as JSON records.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluation.metrics.classes import Answers
from evaluation.score_files.json_records import Row, fail
from evaluation.score_files.tables import Table
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.text.quoting import quoted

_SAID = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def read_answers(table: Table) -> Answers:
    """Read right and wrong answers. Every sample occurs once; a record without an answer of a model is bad."""
    table.need("id")
    ids: dict[str, int] = {}
    classes: list[str] = []
    clusters: list[str] = []
    groups: list[str] = []
    right: dict[str, list[float]] = {}
    for row in table.rows(_is_of_answers, truth="class"):
        name = row.new_name("id", ids)
        classes.append(row.text("class", ""))
        clusters.append(row.text("cluster", f"sample {name}"))
        groups.append(row.text("group", ""))
        model_answers = _answers(row)
        if right and set(model_answers) != set(right):
            missing = sorted(set(right) ^ set(model_answers))[0]
            row.fail(missing, "is missing for some samples", "give it for every sample")
        for model, value in model_answers.items():
            right.setdefault(model, []).append(value)
    if not ids:
        fail(table.path, None, "record", "there is none", "give at least one sample")
    columns = {model: np.array(values) for model, values in right.items()}
    return Answers(list(ids), classes, clusters, columns, _groups(groups, list(ids)) if any(groups) else ())


def _groups(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return the groups; a sample without one is its own, whatever the names of the others."""
    return [f"group {name}" if name else f"sample {own}" for name, own in zip(names, ids, strict=True)]


def _is_of_answers(name: str) -> bool:
    return name in {"id", "class", "cluster", "group"} or name.partition("_")[0] in {"prediction", "correct"}


def _answers(row: Row) -> dict[str, float]:
    """Return {model: 1 right, 0 wrong}; a model is named by what follows `prediction_` or `correct_`."""
    answers: dict[str, float] = {}
    for field in row.fields:
        kind, _, name = field.partition("_")
        if kind == "prediction":
            answers[name or "prediction"] = float(row.text(field) == row.text("class"))
        elif kind == "correct":
            answers[name or "correct"] = float(read_flag(row, field))
    if not answers:
        row.fail("prediction", "is missing", "give prediction, or correct_1, correct_2 ...")
    return answers


def read_flag(row: Row, field: str) -> bool:
    """Read a field of 0 or 1."""
    value = str(row.fields.get(field, "")).strip().lower()
    if value not in _SAID:
        row.fail(field, f"is {quoted(value)}" if value else "is missing", "give 0 or 1")
    return _SAID[value]


def read_predictions(table: Table) -> tuple[list[str], list[float]]:
    """Read predictions of multiple choice: (ids, 1 right or 0 wrong)."""
    table.need("id", "prediction")
    ids: dict[str, int] = {}
    right: list[float] = []
    for row in table.rows({"id", "prediction", "right"}.__contains__, truth="right"):
        row.new_name("id", ids)
        predicted_index, right_index = (_candidate_index(row, field) for field in ("prediction", "right"))
        right.append(float(predicted_index == right_index))
    if not ids:
        fail(table.path, None, "record", "there is none", "give at least one prediction")
    return list(ids), right


def _candidate_index(row: Row, field: str) -> int:
    text = row.text(field, "0" if field == "right" else None)
    if not text.strip().isdecimal():
        row.fail(field, f"is {quoted(text)}", "give the index of a candidate, from 0")
    return int(text)


def ids_of(path: Path) -> list[str]:
    """Return the ids of a list that scores are compared with: JSON lines or an object by id, a CSV with `id`, or lines
    of ids.
    """
    if path.suffix == ".txt":
        return [line.strip() for line in read_text(path).splitlines() if line.strip()]
    table = Table(path)
    table.need("id")
    return [row.key or row.text("id") for row in table.rows()]


def mismatches(score_ids: Sequence[str], list_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return ids that occur on one side only, in order; nothing is dropped for it."""
    have, want = set(score_ids), set(list_ids)
    return {
        "not_in_scores": [name for name in list_ids if name not in have],
        "not_in_list": [name for name in score_ids if name not in want],
    }
