"""Read answers to questions without options: `id,prediction`, and the right answers in `right` or one usual column."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.metrics.open_answers import OpenAnswers
from evaluation.score_files.json_records import fail
from evaluation.score_files.tables import TRUTH_NAMES, Columns, Table

KIND_NAMES = ("subtest", "question_type", "type", "task", "category")
CLUSTER_NAMES = ("cluster", "video", "video_id", "scene_name", "scene")
FIELDS = frozenset({"id", "prediction", "right", "question", *KIND_NAMES, *CLUSTER_NAMES})


@dataclass(frozen=True)
class OpenRow:
    """One answer; texts are "" if the file does not give them."""

    id: str
    answer: str
    reference: str
    question: str
    kind: str
    cluster: str


def open_table(path: Path, columns: Columns | None = None) -> Table:
    """Open the file; the only column with a usual name of right answers is `right`."""
    table = Table(path, columns)
    truths = sorted(TRUTH_NAMES & set(table.names))
    if "right" not in table.names and len(truths) == 1:
        return Table(path, {**(columns or {}), "right": truths[0]})
    return table


def open_rows(table: Table) -> list[OpenRow]:
    """Read the rows. EvaluationError: a row without id or prediction, an id twice, no row."""
    table.need("id", "prediction")
    seen: dict[str, int] = {}
    rows = []
    for row in table.rows(FIELDS.__contains__, truth="right"):
        name = row.new_name("id", seen)
        fields = {field: "" if value is None else str(value).strip() for field, value in row.fields.items()}
        kind, cluster = (_first(fields, names) for names in (KIND_NAMES, CLUSTER_NAMES))
        answer, right, question = (fields.get(field, "") for field in ("prediction", "right", "question"))
        rows.append(OpenRow(name, answer, right, question, kind, cluster))
    if not rows:
        fail(table.path, None, "record", "there is none", "give at least one answer")
    return rows


def read_open(table: Table) -> OpenAnswers:
    """Read answers with their right answers. EvaluationError: as `open_rows`, or a right answer is missing."""
    rows = open_rows(table)
    missing = next((row.id for row in rows if not row.reference), "")
    if missing:
        fail(table.path, None, "right", f"is missing for {missing!r}", "name its column with --column right=NAME")
    return OpenAnswers(
        [row.id for row in rows],
        [row.answer for row in rows],
        [row.reference for row in rows],
        [row.kind for row in rows],
        [row.cluster or f"item {row.id}" for row in rows],
        np.empty(0),
    )


def _first(fields: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")
