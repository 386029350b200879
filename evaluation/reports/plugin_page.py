"""Show the result of any report, as that of a plug-in: its plain values, then each list of rows as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.number_text import DASH, written
from foilworks.core.projects.models import Project

Table = dict[str, Any]
VALUES = "values"


def tables_of_any(_project: Project, _subtest: str, data: Mapping[str, Any]) -> dict[str, list[Table]]:
    """Return the template's tables: {"name", "header", "rows"}, each cell plain."""
    return {"tables": [{**table, "rows": [list(map(_shown, row)) for row in table["rows"]]} for table in _tables(data)]}


def rows_of_any(data: Mapping[str, Any]) -> list[list[Any]]:
    """Return the first table of rows, header first, else the plain values: what the downloads hold."""
    tables = _tables(data)
    table = next((table for table in tables if table["name"] != VALUES), tables[0] if tables else None)
    return [table["header"], *table["rows"]] if table else [[]]


def _tables(data: Mapping[str, Any]) -> list[Table]:
    plain = [[name, value] for name, value in data.items() if _is_plain(value)]
    values = [{"name": VALUES, "header": ["name", "value"], "rows": plain}] if plain else []
    return values + [_table(name, value) for name, value in data.items() if _is_rows(value)]


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    header = list(dict.fromkeys(key for row in rows for key, value in row.items() if _is_plain(value)))
    return {"name": name, "header": header, "rows": [[row.get(key) for key in header] for row in rows]}


def _shown(value: Any) -> Any:
    if value is None or value == "":
        return DASH
    return written(f"{value:.4g}") if isinstance(value, float) else value


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
