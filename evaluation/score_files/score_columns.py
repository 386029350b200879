"""Find which columns of a table are scores, by name: `caption,foil_1,foil_2`, `pos,neg`, `s0,s1,s2`, `id,scores`."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite

from evaluation.score_files.json_records import Row, fail
from evaluation.score_files.tables import SCORES, Table
from foilworks.core.text.quoting import quoted

CAPTIONS = ("caption", "positive", "pos")
_FOIL = re.compile(r"(?:foils?|negatives?|neg|n)[ _.-]?(\d*)")
_NUMBERED = re.compile(r"(\D.*?)[ _.-]?(?<!\d)(\d+)")
_ANSWERS = frozenset({"correct", "prediction"})
# Other fields of a record of scores; the last four come from exports.
FIELDS = frozenset(
    {"id", "right", "subtest", "test", "cluster", "higher_is_better", "proficiency"}
    | {"model", "model_key", "protocol", "kind"}
)
CANDIDATE_COLUMNS = frozenset({"candidate", "score"})
JSON_SCORES = frozenset({SCORES, "caption", "foils", "foil"})


# One record: its scores, higher is better, the index of the right one, and the record itself.
Scores = tuple[list[float], int, Row]
_FLOATS = frozenset({float})


def score_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of scores, the caption's first; () if the names do not tell."""
    if SCORES in names:
        return (SCORES,)
    caption = next((name for name in CAPTIONS if name in names), None)
    foils = [(int(match[1] or 0), name) for name in names if (match := _FOIL.fullmatch(name))]
    if caption and foils:
        return (caption, *(name for _, name in sorted(foils, key=lambda foil: foil[0])))
    stems: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        if (match := _NUMBERED.fullmatch(name)) and match[1] not in _ANSWERS:
            stems.setdefault(match[1], []).append((int(match[2]), name))
    runs = [sorted(run) for run in stems.values() if _is_run([number for number, _ in run])]
    if len(runs) != 1:
        return ()
    first = (caption,) if caption else ()
    return (*first, *(name for _, name in runs[0]))


def _is_run(numbers: Sequence[int]) -> bool:
    """Report whether the numbers count from 0 or 1, in any order."""
    ordered = sorted(numbers)
    return len(ordered) > 1 and ordered[0] in {0, 1} and all(b - a == 1 for a, b in pairwise(ordered))


def score_rows(table: Table, *, with_facts: bool = False) -> Iterator[Scores]:
    """Read the records of a table of scores: one per row or, with `candidate` and `score`, one row per candidate.

    `with_facts`: the other columns are read as facts of the record, so none is unused. EvaluationError names file, line
    and column of what is wrong.
    """
    if set(table.names) >= CANDIDATE_COLUMNS:
        yield from _rows_of_candidates(table)
        return
    columns = score_columns(table.names) if table.is_csv else ()
    if table.is_csv and not columns:
        problem = f"no column has a known name for scores ({table.shown})"
        fix = "name the columns caption,foil_1,foil_2 …, or map them: --column caption=NAME --column foil=NAME"
        fail(table.path, 1, "header", problem, fix)
    used = FIELDS | (set(columns) if columns else JSON_SCORES)
    foils = columns[1:]
    for row in table.rows(None if with_facts else used.__contains__, truth="right"):
        values = [row.number(columns[0]), *_of_cells(row, foils)] if foils else _of_record(row)
        higher = row.fields.get("higher_is_better", True)
        if higher is not True and not is_higher_better(row):
            values = [-value for value in values]
        yield values, _right(row, len(values)) if "right" in row.fields else 0, row


def _rows_of_candidates(table: Table) -> Iterator[Scores]:
    """Read records with one row per candidate, in order from 0: by id or, without ids, one after the other."""
    records: dict[tuple[str, str], tuple[Row, list[float]]] = {}
    number = 0
    for row in table.rows((FIELDS | CANDIDATE_COLUMNS).__contains__, truth="right"):
        candidate_index = row.whole("candidate", -1)
        number += candidate_index == 0
        name = f"record {number}" if table.ids == "rows" else row.text("id")
        first, values = records.setdefault((row.text("subtest", ""), name), (row, []))
        if candidate_index != len(values):
            fix = "number the candidates of a record in order, from 0"
            row.fail("candidate", f"is {candidate_index} where {len(values)} comes next in {name}", fix)
        if row.fields.get("right") != first.fields.get("right"):
            row.fail(
                "right",
                f"differs from the first row of the record (line {first.line})",
                "give the same value in all rows of the record",
            )
        score = row.number("score")
        values.append(score if is_higher_better(row) else -score)
    for first, values in records.values():
        if len(values) < 2:
            first.fail("candidate", "is the only row of its record", "give one row for each candidate")
        yield values, _right(first, len(values)), first


def _right(row: Row, n: int) -> int:
    right = row.whole("right", 0)
    if right >= n:
        row.fail("right", f"is {right}", f"give a column from 0 to {n - 1}")
    return right


def inner_scores(pair: Row, item: Row) -> list[float]:
    """Return the scores of a proficiency pair inside a record, with the record's direction unless the pair has
    its own."""
    values = _of_record(pair)
    return values if is_higher_better(pair if "higher_is_better" in pair.fields else item) else [-v for v in values]


def is_higher_better(row: Row) -> bool:
    """Report whether a higher score of the record is better; true unless the record says it is not."""
    higher = row.fields.get("higher_is_better", True)
    if row.is_text and isinstance(higher, str):
        higher = {"true": True, "false": False}.get(higher.strip().lower(), higher)
    if not isinstance(higher, bool):
        row.fail("higher_is_better", f"is {quoted(higher)}", "give true or false")
    return higher


def _of_cells(row: Row, foils: Sequence[str]) -> list[float]:
    """Return the foils' scores; empty cells at the end are foils that the item does not have."""
    filled_columns = [name for name in foils if name in row.fields]
    last = foils.index(filled_columns[-1]) if filled_columns else 0
    return [row.number(name) for name in foils[: last + 1]]


def _of_record(row: Row) -> list[float]:
    """Return `scores`, or `caption` and `foils` (or `foil`)."""
    fields = row.fields
    if SCORES not in fields:
        caption, foils = fields.get("caption"), fields.get("foils")
        # The fast path for finite floats, nearly every record of a large file; the slow path reports errors.
        if type(foils) is list and foils and type(caption) is float and _FLOATS.issuperset(map(type, foils)):
            values = [caption, *foils]
            if isfinite(sum(values)):
                return values
        return [row.number("caption"), *row.numbers("foils" if "foils" in fields else "foil")]
    values = row.numbers(SCORES)
    if len(values) < 2:
        row.fail(SCORES, "has no foil", "give the caption's score and at least one foil's")
    return values


def kind_of(table: Table) -> str:
    """Return what the column names imply: "scores", "predictions" of an index, or "answers" (right and wrong)."""
    names = set(table.names)
    if names >= CANDIDATE_COLUMNS or (score_columns(table.names) if table.is_csv else names & JSON_SCORES):
        return "scores"
    if "prediction" in names and ("right" in names or "class" not in names):
        return "predictions"
    if "class" in names or any(name.partition("_")[0] in _ANSWERS for name in names):
        return "answers"
    return "scores"
