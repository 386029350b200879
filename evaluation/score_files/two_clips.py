"""Read score files of items of two clips: the four scores of an item in one record, or one score per record.

Winoground's own files have `{"label": "0_c0_i1", "score"}` per line: item 0, caption 0 on image 1. Others have
`{"id", "c0_i0", "c1_i0", "c0_i1", "c1_i1"}`. Both as JSON records or CSV; higher is better, unless `higher_is_better`
is false.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.ties import Floats
from evaluation.metrics.two_clips import TwoClipScores
from evaluation.score_files.json_records import Row
from evaluation.score_files.score_columns import is_higher_better
from evaluation.score_files.tables import Table
from foilworks.core.text.quoting import quoted

# Caption and clip of each score, in the order of metrics.two_clips.
CELLS = ("c0_i0", "c1_i0", "c0_i1", "c1_i1")
LABELLED = frozenset({"label", "score"})
_USED = frozenset({*CELLS, *LABELLED, "id", "subtest", "cluster", "higher_is_better"})
_LABEL = re.compile(r"(.+)_(c[01]_i[01])")


def is_of_two_clips(names: Sequence[str]) -> bool:
    """Report whether a file with these columns has scores of items of two clips."""
    return set(CELLS) <= set(names) or (set(names) >= LABELLED and "candidate" not in names)


def read_two_clips(table: Table) -> TwoClipScores:
    """Read all items, in the order of the file. EvaluationError names file, record and field."""
    if not is_of_two_clips(table.names):
        cell_names = ", ".join(CELLS)
        raise EvaluationError(
            f"{table.path}: columns: there are no scores of two clips; give {cell_names}, or label and score"
        )
    rows = _labelled(table) if set(table.names) >= LABELLED else _wide(table)
    ids, scores, subtests, clusters = [], [], [], []
    for name, values, row in rows:
        ids.append(name)
        scores.append(values)
        subtests.append(row.text("subtest", "") or table.path.stem)
        cluster = row.text("cluster", "")
        clusters.append(f"cluster {cluster}" if cluster else f"item {name}")
    if not ids:
        raise EvaluationError(f"{table.path}: record: there is none; give at least one scored item")
    return TwoClipScores(ids, np.array(scores, dtype=np.float64), subtests, clusters)


def halves(scores: Floats) -> tuple[Floats, Floats]:
    """Return (n, 2) scores of each clip's item, its caption first."""
    return scores[:, [0, 1]], scores[:, [3, 2]]


def _wide(table: Table) -> Iterator[tuple[str, list[float], Row]]:
    table.need("id")
    seen: dict[str, int] = {}
    for row in table.rows(_USED.__contains__):
        yield row.new_name("id", seen), _signed(row, [row.number(cell) for cell in CELLS]), row


def _labelled(table: Table) -> Iterator[tuple[str, list[float], Row]]:
    """Collect the four records of each item."""
    records_by_item: dict[str, tuple[dict[str, float], Row]] = {}
    for row in table.rows(_USED.__contains__):
        label = row.text("label")
        match = _LABEL.fullmatch(label)
        if match is None:
            row.fail("label", f"is {quoted(label)}", "give the item with caption and clip, such as 0_c0_i1")
        values, _first = records_by_item.setdefault(match[1], ({}, row))
        if match[2] in values:
            row.fail("label", f"{quoted(label)} occurs twice in the file", "keep one of them")
        values[match[2]] = _signed(row, [row.number("score")])[0]
    for name, (values, row) in records_by_item.items():
        missing = [cell for cell in CELLS if cell not in values]
        if missing:
            row.fail("label", f"there is no {name}_{missing[0]}", "give four scores for each item")
        yield name, [values[cell] for cell in CELLS], row


def _signed(row: Row, values: list[float]) -> list[float]:
    return values if is_higher_better(row) else [-value for value in values]
