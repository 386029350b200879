"""Predictions of the nine models as a file, from which splits are made without running anything.

`sample,class,correct_1 … correct_9,confidence`: 0 or 1 for each model, and the mean probability of the true class.
Retrieval has neither `class` nor `confidence`, and so no balanced split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.importers.parsing.json_records import read_text
from evaluation.errors import EvaluationError
from evaluation.score_files.answers import csv_records, read_answers
from evaluation.score_files.json_records import Row, fail
from evaluation.utd.instructions import MODELS
from evaluation.utd.splits import Split, split

COLUMNS = tuple(f"correct_{number}" for number in range(1, MODELS + 1))
_SAID = {"0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Predictions:
    """`correct` (n, 9), `confidence` (n,) or None and `classes` or None, for n samples by id."""

    ids: tuple[str, ...]
    correct: NDArray[np.bool_]
    classes: tuple[str, ...] | None
    confidence: NDArray[np.float64] | None

    def split(self) -> Split:
        return split(self.correct, ids=self.ids, classes=self.classes, confidence=self.confidence)

    def named(self, places: Sequence[int]) -> list[str]:
        return [self.ids[place] for place in places]


def read_predictions(path: Path) -> Predictions:
    """EvaluationError names file, line and column: a sample twice, a value that is no 0 or 1, no finite confidence."""
    ids: dict[str, int] = {}
    correct: list[list[bool]] = []
    classes: list[str] = []
    confidence: list[float] = []
    for row in csv_records(path, ("sample", *COLUMNS)):
        row.new_name("sample", ids)
        correct.append([_said(row, column) for column in COLUMNS])
        classes.append(row.text("class", ""))
        confidence.append(_confidence(row))
    if not ids:
        fail(path, None, "record", "there is none", "give at least one sample")
    known = all(classes) and not np.isnan(confidence).any()
    if not known and (any(classes) or not np.isnan(confidence).all()):
        problem = "is given for some samples only, or without confidence"
        raise EvaluationError(f"{path}: class: {problem}; give both for all")
    return Predictions(
        tuple(ids),
        np.array(correct, dtype=np.bool_),
        tuple(classes) if known else None,
        np.array(confidence) if known else None,
    )


def _said(row: Row, column: str) -> bool:
    said = row.text(column).strip().lower()
    if said not in _SAID:
        row.fail(column, f"is {said!r}", "give 0 or 1")
    return _SAID[said]


def _confidence(row: Row) -> float:
    text = row.text("confidence", "")
    if not text:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        value = float("inf")
    if not np.isfinite(value):
        row.fail("confidence", f"is {text!r}", "give a finite number")
    return value


def read_model_answers(path: Path) -> dict[str, dict[str, float]]:
    """{model: {sample: 1 right, 0 wrong}}; a file of one model that it does not name is called by its stem.

    EvaluationError names file, line and column.
    """
    header = [name.strip().lower() for name in read_text(path).partition("\n")[0].split(",")]
    if "video_id" in header and "acc_top1" in header:
        return {path.stem: _accuracies(path)}
    found = read_answers([path])
    models = {model: dict(zip(found.ids, values.tolist(), strict=True)) for model, values in found.right.items()}
    if len(models) == 1 and set(models) <= {"prediction", "correct"}:
        return {path.stem: next(iter(models.values()))}
    return models


def _accuracies(path: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in csv_records(path, ("video_id", "acc_top1")):
        name = row.text("video_id")
        if name in found:
            row.fail("video_id", f"{name!r} stands in the file twice", "keep one of them")
        said = row.text("acc_top1").strip().lower()
        if said not in {"0", "1", "0.0", "1.0", "true", "false"}:
            row.fail("acc_top1", f"is {said!r}", "give 0 or 1")
        found[name] = float(said in {"1", "1.0", "true"})
    if not found:
        fail(path, None, "record", "there is none", "give at least one sample")
    return found
