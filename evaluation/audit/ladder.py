"""Read predictions of a model that saw less and less of each video, and compute its evidence ladder."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.audit.answers import answer_place, is_number_label, label_of
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
    """Return the records by id; those without one by their number, from 0."""
    return {record.id or str(number): record for number, record in enumerate(records)}


def read_rung(path: Path, items: Mapping[str, AuditRecord], columns: Mapping[str, str]) -> Credits:
    """Return id -> credit of a file of scores or predictions.

    A prediction is the text, the letter or the number (from 0) of an option, or a label (yes, no, 1, 0); one that is
    none of them is wrong.
    EvaluationError: the file cannot be read, or has no item of the benchmark.
    """
    table = Table(path, columns) if path.suffix in TABLES else None
    if table is not None and kind_of(table) == "predictions" and "right" not in {*table.names, *columns}:
        found = _predicted(table, items)
    else:
        scores = read_choices(path, columns=columns)
        credits = hit(standing(scores.scores, scores.right), "half")
        found = dict(zip(scores.ids, map(float, credits), strict=True))
    if not found.keys() & items.keys():
        shown = quoted(next(iter(found), ""))
        raise EvaluationError(
            f"{path}: id: {shown} and all others are not in the benchmark; give the ids of its items, or map them "
            "with --column id=NAME"
        )
    return found


def _predicted(table: Table, items: Mapping[str, AuditRecord]) -> dict[str, float]:
    seen: dict[str, int] = {}
    found: dict[str, float] = {}
    for row in table.rows({"id", "prediction"}.__contains__, truth="right"):
        name = row.new_name("id", seen)
        if name in items:
            found[name] = _credit(row.text("prediction", ""), items[name])
    return found


def _credit(said: str, record: AuditRecord) -> float:
    if record.is_label and (record.place is None or not is_number_label(said)):
        label = label_of(said)
        if label is not None or record.place is None:
            return float(label is label_is_true(record))
    place = record.place or 0
    options = [*record.wrongs[:place], record.right, *record.wrongs[place:]]
    try:
        return float(answer_place(said, options) == place)
    except ProblemError:
        return 0.0


def ladder_of(rungs: Mapping[str, Credits], items: Mapping[str, AuditRecord]) -> dict[str, Any]:
    """Return the ladder over the benchmark's items (evaluation/metrics/ladder.py). Clusters are videos."""
    if ladder.FULL not in rungs:
        raise EvaluationError("the ladder needs scores of the full clip; give them with --predictions FILE")
    names = list(items)
    credit: dict[str, Floats] = {
        rung: np.array([found.get(name, np.nan) for name in names]) for rung, found in rungs.items()
    }
    chance = np.array([1 / record.n_options for record in items.values()])
    clusters = [record.video or f"item {name}" for name, record in items.items()]
    return ladder.compute(ladder.LadderScores(credit, chance, clusters))


def findings_of(found: Mapping[str, Any]) -> list[Finding]:
    """Return one finding per rung: warn if a rung below the full clip is not clearly worse than it."""
    rows = []
    for rung, row in found["rungs"].items():
        drop = row["drop_ci"]
        needless = rung != ladder.FULL and (drop is None or drop[0] <= 0)
        details = {"unit": "items", "rung": rung, "drop": row["drop"], "drop_ci": drop}
        verdict = "warn" if needless else "ok"
        rows.append(Finding("ladder", verdict, row["T"], row["ci"], found["chance"], found["n"], "", details))
    return rows


def parse_rungs(given: Sequence[str]) -> dict[str, Path]:
    """Parse `shuffled=FILE`. EvaluationError: no such rung, or a rung occurs twice."""
    found: dict[str, Path] = {}
    for part in given:
        name, equals, path = part.partition("=")
        rung = name.strip().replace("-", "_")
        if not equals or not path or rung not in ladder.RUNGS or rung in found:
            raise EvaluationError(
                f"rung {quoted(part)} is not valid; give each rung once as NAME=FILE, with one of: "
                f"{', '.join(ladder.RUNGS)}"
            )
        found[rung] = Path(path)
    return found
