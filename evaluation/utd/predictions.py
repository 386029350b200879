"""Read and write predictions of the nine models as a file, from which splits are computed without running a model.

`sample,class,correct_1 … correct_9,confidence`: 0 or 1 for each model, and the mean probability of the true class.
Retrieval has neither `class` nor `confidence`, and so no balanced split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.score_files.answers import read_answers, read_flag
from evaluation.score_files.json_records import fail
from evaluation.score_files.tables import Columns, Table
from evaluation.utd.instructions import MODELS
from evaluation.utd.splits import Split, split

# Columns of the files of answers that the authors of UTD publish.
OF_AUTHORS = {"r1": "correct", "acc_top1": "correct", "target": "class"}
COLUMNS = tuple(f"correct_{number}" for number in range(1, MODELS + 1))


@dataclass(frozen=True)
class Predictions:
    """`correct` (n, 9), `confidence` (n,) or None and `classes` or None, for n samples by id."""

    ids: tuple[str, ...]
    correct: NDArray[np.bool_]
    classes: tuple[str, ...] | None
    confidence: NDArray[np.float64] | None
    ignored_columns: tuple[str, ...] = ()

    def split(self) -> Split:
        return split(self.correct, ids=self.ids, classes=self.classes, confidence=self.confidence)

    def ids_at(self, indices: Sequence[int]) -> list[str]:
        return [self.ids[index] for index in indices]


def read_predictions(path: Path, columns: Columns | None = None) -> Predictions:
    """Read the predictions of the nine models.

    EvaluationError names file, line and column: a duplicate sample, a value other than 0 or 1, a confidence that is not
    finite.
    """
    ids: dict[str, int] = {}
    correct: list[list[bool]] = []
    classes: list[str] = []
    confidence: list[float] = []
    table = Table(path, columns)
    table.need("id", *COLUMNS)
    for row in table.rows({"id", "class", "confidence", *COLUMNS}.__contains__, truth="class"):
        row.new_name("id", ids)
        correct.append([read_flag(row, column) for column in COLUMNS])
        classes.append(row.text("class", ""))
        confidence.append(row.number("confidence") if "confidence" in row.fields else float("nan"))
    if not ids:
        fail(path, None, "record", "there is none", "give at least one sample")
    is_complete = all(classes) and not np.isnan(confidence).any()
    if not is_complete and (any(classes) or not np.isnan(confidence).all()):
        problem = "is missing for some samples, or confidence is missing"
        raise EvaluationError(f"{path}: class: {problem}; give both for all")
    return Predictions(
        tuple(ids),
        np.array(correct, dtype=np.bool_),
        tuple(classes) if is_complete else None,
        np.array(confidence) if is_complete else None,
        tuple(table.ignored),
    )


def read_model_answers(path: Path, columns: Columns | None = None) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return {model: {sample: 1 right, 0 wrong}}, and the unused columns; a model without a name is named by the file.

    EvaluationError names file, line and column. The authors call the column of right and wrong `acc_top1`, in retrieval
    `R1`, and that of the class `target`.
    """
    table = Table(path, columns)
    of_authors = {field: name for name, field in OF_AUTHORS.items() if name in table.names}
    if "correct" in of_authors:
        table = Table(path, {**of_authors, **(columns or {})})
    answers = read_answers(table)
    models = {model: dict(zip(answers.ids, values.tolist(), strict=True)) for model, values in answers.right.items()}
    if len(models) == 1 and set(models) <= {"prediction", "correct"}:
        models = {path.stem: next(iter(models.values()))}
    return models, list(table.ignored)
