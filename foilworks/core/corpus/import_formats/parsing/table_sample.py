"""The first rows of a table, small enough to store, and the records that a recipe makes of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from foilworks.core.corpus.import_formats.parsing.any_rows import lists_of, rows_of
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.row_values import column_of, nested
from foilworks.core.corpus.import_formats.parsing.table_recipe import Recipe, nearest, parse_recipe
from foilworks.core.corpus.import_formats.parsing.table_records import record_of, rows_of_row
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.text.quoting import quoted, shortened

MAX_ROWS, MAX_CELL, MAX_ENTRIES, MAX_SIZE = 30, 1000, 20, 100_000
SHOWN = 5


def sample_of(path: Path, limits: TableLimits | None = None) -> dict[str, Any]:
    """`records`, the path of the list in a JSON file, and `rows`. CorpusError: the file cannot be read."""
    records = next(iter(lists_of(path)), "")
    rows = islice(rows_of(path, limits or TableLimits(), records=records), MAX_ROWS)
    return {"records": records, "rows": small_rows(raw.value for raw in rows if not raw.problem)}


def small_rows(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the first rows with shortened cells, at most MAX_SIZE characters of more than one."""
    first_rows: list[dict[str, Any]] = []
    size = 0
    for row in map(_small, rows):
        size += len(str(row))
        if first_rows and size > MAX_SIZE:
            break
        first_rows.append(row)
    return [row for row in first_rows if _is_storable(row)]


def _small(value: Any, depth: int = 6) -> Any:
    if isinstance(value, str):
        return shortened(value, MAX_CELL)
    if isinstance(value, Mapping):
        return {key: _small(inner, depth - 1) for key, inner in islice(value.items(), 200)} if depth else {}
    if isinstance(value, list):
        return [_small(inner, depth - 1) for inner in value[:MAX_ENTRIES]] if depth else []
    return value


def _is_storable(row: Any) -> bool:
    try:
        check_content(row)
    except ProblemError:
        return False
    return True


class Previewed(NamedTuple):
    """A record as it would be imported, or what is wrong with it: field, problem, fix."""

    item: ItemRecord | None
    problem: tuple[str, str, str] | None


def preview_rows(document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], subtest: str) -> list[Previewed]:
    """The first SHOWN records of the rows. CorpusError: the recipe has no meaning, or does not fit the columns."""
    recipe = parse_recipe(document)
    columns = {name: None for row in rows for name in row}
    for name in recipe.required:
        if column_of(name, columns) is None and name not in recipe.name_parts:
            fix = nearest(name, [column for column in columns if not column.startswith("@")])
            raise ProblemError("columns", f"there is no column {quoted(name)}", fix)
    return [_preview_row(recipe, row, subtest) for row in islice(_selected_rows(recipe, rows), SHOWN)]


def _selected_rows(recipe: Recipe, rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any] | ProblemError]:
    for number, row in enumerate(rows):
        try:
            yield from rows_of_row(recipe, row, number)
        except ProblemError as error:
            yield error


def _preview_row(recipe: Recipe, row: Mapping[str, Any] | ProblemError, subtest: str) -> Previewed:
    try:
        if isinstance(row, ProblemError):
            raise row
        return Previewed(record_of(recipe, RawRecord(None, row, 1), subtest), None)
    except ProblemError as error:
        return Previewed(None, (error.field, error.problem, error.fix))


def list_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that hold lists or objects: each entry can become a record."""
    names = {name: None for row in rows for name in row}
    return [name for name in names if any(isinstance(nested(row.get(name)), list | dict) for row in rows)]


def fitting(recipes: Mapping[str, Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the recipes that make records of these rows."""
    columns = {name: None for row in rows for name in row}
    return [name for name, document in recipes.items() if columns and _fits(document, columns)]


def _fits(document: Mapping[str, Any], columns: Mapping[str, None]) -> bool:
    used = parse_recipe(document).required
    return len(used) > 2 and all(column_of(name, columns) is not None for name in used)
