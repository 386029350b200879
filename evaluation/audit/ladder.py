"""Read predictions of a model that saw less and less of each video, and compute its evidence ladder."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.audit.answers import index_of_answer, is_number_label, label_of
from evaluation.audit.records import AuditRecord, Finding, label_is_true
from evaluation.errors import EvaluationError
from evaluation.metrics import ladder
from evaluation.metrics.ties import hit, standing
from evaluation.score_files.score_columns import kind_of
from evaluation.score_files.scores import read_choices
from evaluation.score_files.tables import Table
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float64]
Credits = Mapping[str, float]
TABLES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson"})


def by_id(records: Iterable[AuditRecord]) -> dict[str, AuditRecord]:
    """Return the records by id; those without one by their number, from 0.

    EvaluationError: two records have the id, so that its prediction can belong to either.
    """
    record_by_id: dict[str, AuditRecord] = {}
    for number, record in enumerate(records):
        key = record.id or str(number)
        if key in record_by_id:
            raise EvaluationError(
                f"two records have the id {quoted(key)}, so its prediction can belong to either; name a column of "
                "unique ids with --column id=NAME"
            )
        record_by_id[key] = record
    return record_by_id


def read_rung(path: Path, items: Mapping[str, AuditRecord], columns: Mapping[str, str]) -> Credits:
    """Return id -> credit of a file of scores or predictions.

    A prediction is the text, the letter or the number (from 0) of an option, or a label (yes, no, 1, 0); one that is
    none of them is wrong.
    EvaluationError: the file cannot be read, or has no item of the benchmark.
    """
    table = Table(path, columns) if path.suffix in TABLES else None
    if table is not None and kind_of(table) == "predictions" and "right" not in {*table.names, *columns}:
        credit_by_id = _prediction_credits(table, items)
    else:
        scores = read_choices(path, columns=columns)
        credits = hit(standing(scores.scores, scores.right), "half")
        credit_by_id = dict(zip(scores.ids, map(float, credits), strict=True))
    if not credit_by_id.keys() & items.keys():
        example_id = quoted(next(iter(credit_by_id), ""))
        raise EvaluationError(
            f"{path}: id: {example_id} and all others are not in the benchmark; give the ids of its items, or map them "
            "with --column id=NAME"
        )
    return credit_by_id


def _prediction_credits(table: Table, items: Mapping[str, AuditRecord]) -> dict[str, float]:
    seen_ids: dict[str, int] = {}
    credit_by_id: dict[str, float] = {}
    for row in table.rows({"id", "prediction"}.__contains__, truth="right"):
        name = row.new_name("id", seen_ids)
        if name in items:
            credit_by_id[name] = _credit(row.text("prediction", ""), items[name])
    return credit_by_id


def _credit(prediction: str, record: AuditRecord) -> float:
    if record.is_label and (record.position is None or not is_number_label(prediction)):
        label = label_of(prediction)
        if label is not None or record.position is None:
            return float(label is label_is_true(record))
    position = record.position or 0
    options = [*record.wrongs[:position], record.right, *record.wrongs[position:]]
    try:
        return float(index_of_answer(prediction, options) == position)
    except ProblemError:
        return 0.0


def ladder_of(rungs: Mapping[str, Credits], items: Mapping[str, AuditRecord]) -> dict[str, Any]:
    """Return the ladder over the benchmark's items (evaluation/metrics/ladder.py). Clusters are videos."""
    if ladder.FULL not in rungs:
        raise EvaluationError("the ladder needs scores of the full clip; give them with --predictions FILE")
    names = list(items)
    credit: dict[str, Floats] = {
        rung: np.array([credit_by_id.get(name, np.nan) for name in names]) for rung, credit_by_id in rungs.items()
    }
    chance = np.array([1 / record.n_options for record in items.values()])
    clusters = [record.video or f"item {name}" for name, record in items.items()]
    return ladder.compute(ladder.LadderScores(credit, chance, clusters))


def findings_of(result: Mapping[str, Any]) -> list[Finding]:
    """Return one finding per rung: warn if a rung below the full clip is not clearly worse than it."""
    rows = []
    for rung, row in result["rungs"].items():
        drop = row["drop_ci"]
        needless = rung != ladder.FULL and (drop is None or drop[0] <= 0)
        details = {"unit": "items", "rung": rung, "drop": row["drop"], "drop_ci": drop}
        verdict = "warn" if needless else "ok"
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
