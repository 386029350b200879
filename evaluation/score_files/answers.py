"""Answers instead of scores: predictions of UTD benchmarks, choices of multiple choice, and ids held against a list.

UTD CSV: `sample,class` and either `prediction` (or one such column a model, `prediction_NAME`), or `correct`,
`correct_1` ... (0 or 1, one column a model); further columns are left alone. MC CSV: `id,prediction[,right]`: the
place of the chosen candidate, from 0, the right one at 0 unless `right` says otherwise.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corpus.importers.parsing.json_records import read_text
from evaluation.errors import EvaluationError
from evaluation.metrics.classes import Answers
from evaluation.score_files.csv_records import csv_records
from evaluation.score_files.json_records import Row, fail, rows


def read_answers(paths: Sequence[Path]) -> Answers:
    """UTD predictions. Every sample once; every model says something of every sample, else the record is bad."""
    if len(paths) != 1:
        raise EvaluationError("give exactly one --file for this metric")
    (path,) = paths
    ids: dict[str, int] = {}
    classes: list[str] = []
    clusters: list[str] = []
    right: dict[str, list[float]] = {}
    for row in csv_records(path, ("sample",)):
        name = row.new_name("sample", ids)
        classes.append(row.text("class", ""))
        clusters.append(row.text("cluster", f"sample {name}"))
        found = _answers(row)
        if right and set(found) != set(right):
            missing = sorted(set(right) ^ set(found))[0]
            row.fail(missing, "is given for some samples only", "give it for every sample")
        for model, value in found.items():
            right.setdefault(model, []).append(value)
    if not ids:
        fail(path, None, "record", "there is none", "give at least one sample")
    return Answers(list(ids), classes, clusters, {model: np.array(values) for model, values in right.items()})


def _answers(row: Row) -> dict[str, float]:
    """{model: 1 right, 0 wrong}; a model is called by what follows `prediction_` or `correct_`."""
    found: dict[str, float] = {}
    for field in row.fields:
        kind, _, name = field.partition("_")
        if kind == "prediction":
            found[name or "prediction"] = float(row.text(field) == row.text("class"))
        elif kind == "correct":
            said = row.text(field).strip().lower()
            if said not in {"0", "1", "true", "false"}:
                row.fail(field, f"is {said!r}", "give 0 or 1")
            found[name or "correct"] = float(said in {"1", "true"})
    if not found:
        row.fail("prediction", "is missing", "give prediction, or correct_1, correct_2 ...")
    return found


def read_choices_made(path: Path) -> tuple[list[str], list[float]]:
    """MC predictions: (ids, 1 right or 0 wrong)."""
    ids: dict[str, int] = {}
    right: list[float] = []
    for row in csv_records(path, ("id", "prediction")):
        row.new_name("id", ids)
        chosen, wanted = (_place(row, field) for field in ("prediction", "right"))
        right.append(float(chosen == wanted))
    if not ids:
        fail(path, None, "record", "there is none", "give at least one prediction")
    return list(ids), right


def _place(row: Row, field: str) -> int:
    said = row.text(field, "0" if field == "right" else None)
    if not said.strip().isdecimal():
        row.fail(field, f"is {said!r}", "give the place of a candidate, from 0")
    return int(said)


def is_choices_made(path: Path) -> bool:
    """Whether a CSV holds predictions and not scores: its header says so."""
    if path.suffix != ".csv":
        return False
    header = read_text(path).partition("\n")[0].lower()
    return "prediction" in [name.strip() for name in header.split(",")]


def ids_of(path: Path) -> list[str]:
    """The ids of a list that scores are held against: JSON lines or an object by id, a CSV with `id`, or one a line."""
    if path.suffix == ".csv":
        return [row.text("id") for row in csv_records(path, ("id",))]
    if path.suffix == ".txt":
        return [line.strip() for line in read_text(path).splitlines() if line.strip()]
    return [row.key or row.text("id") for row in rows(path)]


def mismatches(given: Sequence[str], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Ids that stand on one side only, in their order; nothing is dropped for it."""
    have, want = set(given), set(wanted)
    return {
        "not_in_scores": [name for name in wanted if name not in have],
        "not_in_list": [name for name in given if name not in want],
    }
