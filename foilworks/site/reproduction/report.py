"""Write a result for readers (Markdown, one HTML page, LaTeX) and for programs (JSON, a table of cells)."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from evaluation.text_tables import escaped, latex, markdown
from foilworks.core.text.storable import safe_row
from foilworks.site.reproduction.table_cells import Cell, Result, State, count_states

HEAD = ("table", "row", "column", "paper", "ours", "state", "why")
NOTHING = "–"
TITLE = "# {}: the paper's tables beside ours\n"
COUNT = "{} {}"
SECTION, POINT, BOTH, REASON = "\n## {}\n", "- {}", "{} / {} {}", "{} {}: {}"
TEMPLATE = "foilworks/reproduction.html"
# Mark of a cell with our number, and what the state means.
MARKS: Mapping[State, str] = {
    "equal": "=",
    "differs": "≠",
    "simulated": "S",
    "tiny model": "T",
    "other data": "O",
    "not given": "",
    "needs weights": "",
    "not published": "",
    "no number in the paper": "",
}
MEANINGS: Mapping[State, str] = {
    "equal": "our number rounds to the printed one, from the published files",
    "differs": "it does not; the reason is named",
    "simulated": "simulated people edited, validated or answered; it says nothing about people",
    "tiny model": "a small model took the part of one whose weights were not given",
    "other data": "the given file is not the published one, so nothing can be compared",
    "not given": "the folder lacks what it needs, or the command never reads it; the reason says what and where",
    "needs weights": "it needs a model that was not given",
    "not published": "nobody can have what the number needs",
    "no number in the paper": "the paper describes it in words or in a figure",
}
LEGEND = (
    "\nEach cell is the paper's number / ours; – means no number. "
    "= equal, ≠ differs, S simulated people, T tiny model, O other data."
)
MISSING = "Cells without our number"
FOLDED_HEAD = ("state", "what is missing", "tables", "cells")
Rows = Sequence[Sequence[str]]


class TableView(NamedTuple):
    """One table of the paper: its name, its rows (the header first), and a line per reason of its cells.

    `has_numbers`: at least one cell has a number of ours. `states`: the number of cells per state in words.
    """

    name: str
    rows: Rows
    reasons: Sequence[str]
    has_numbers: bool
    states: str


def write_report(result: Result, folder: Path) -> list[Path]:
    """Write the five files into `folder` and return their paths, the page for readers first."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.html": page_of(result, folder),
        "report.md": markdown_of(result),
        "tables.tex": latex_of(result),
        "report.json": json.dumps(as_json(result), ensure_ascii=False, indent=2) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    with (folder / "cells.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(safe_row(asdict(cell)[name] for name in HEAD) for cell in result.cells)
    return [folder / name for name in (*texts, "cells.csv")]


def as_json(result: Result) -> dict[str, Any]:
    """Return the result with the number of cells per state."""
    return {**asdict(result), "states": count_states(result.cells)}


def summary(result: Result) -> str:
    """Return the number of cells per state in one line."""
    return f"{len(result.cells):,} cells: {_counted(result.cells) or 'none'}"


def _counted(cells: Sequence[Cell]) -> str:
    return ", ".join(COUNT.format(count, state) for state, count in count_states(cells).items())


def markdown_of(result: Result) -> str:
    """Return the paper's tables with both numbers in each cell, and below each the reasons of its cells."""
    blocks = [TITLE.format(result.paper), summary(result), LEGEND]
    for table in tables_of(result):
        blocks += [SECTION.format(table.name), markdown(table.rows), *(POINT.format(line) for line in table.reasons)]
    if folded := missing_cells(result):
        blocks += [SECTION.format(MISSING), markdown([FOLDED_HEAD, *folded])]
    if result.notes:
        blocks += [SECTION.format("Notes"), *(POINT.format(line) for line in result.notes)]
    return "\n".join(blocks) + "\n"


def latex_of(result: Result) -> str:
    """Return a `tabular` per table; the legend and the names of the tables are comments."""
    return "\n".join(
        [f"% {escaped(LEGEND.strip())}", *(f"% {table.name}\n{latex(table.rows)}" for table in tables_of(result))]
    )


def page_of(result: Result, folder: Path) -> str:
    """Return the report as one page that needs no other file: tables, states, and the figures below `folder`."""
    counted = count_states(result.cells)
    return render_to_string(
        TEMPLATE,
        {
            "paper": result.paper,
            "states": [(state, counted.get(state, 0), meaning) for state, meaning in MEANINGS.items()],
            "n_cells": len(result.cells),
            "tables": [table._asdict() | {"head": table.rows[0], "rows": table.rows[1:]} for table in _tables(result)],
            "folded_head": FOLDED_HEAD,
            "folded": missing_cells(result),
            "notes": result.notes,
            "figures": [(_title(path), path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.svg"))],
        },
    )


def _title(path: Path) -> str:
    """Return the name of a figure file in words."""
    return path.stem.replace("-", " ").capitalize()


def tables_of(result: Result) -> Iterator[TableView]:
    """Yield the tables with at least one number of ours; the others are in `missing_cells`."""
    return (table for table in _tables(result) if table.has_numbers)


def _tables(result: Result) -> Iterator[TableView]:
    for name, cells in groupby(result.cells, key=lambda cell: cell.table):
        of_table = list(cells)
        with_numbers = [cell for cell in of_table if cell.ours is not None]
        yield TableView(
            name, _rows(of_table), list(_reasons(with_numbers or of_table)), bool(with_numbers), _counted(of_table)
        )


def missing_cells(result: Result) -> Rows:
    """Return one row per reason why cells have no number of ours: state, reason, tables, number of cells."""
    cells = [cell for cell in result.cells if cell.ours is None]
    counted = Counter((cell.state, cell.why) for cell in cells)
    tables = {key: dict.fromkeys(cell.table for cell in cells if (cell.state, cell.why) == key) for key in counted}
    return [(state, why, "; ".join(tables[state, why]), f"{count:,}") for (state, why), count in counted.items()]


def number(value: float | None) -> str:
    """Return two decimals, three of a number below one, without closing zeros; or a dash."""
    if value is None:
        return NOTHING
    digits = 3 if abs(value) < 1 else 2
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _rows(cells: Sequence[Cell]) -> Rows:
    """Return the table, header first."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.row, cell.column): _cell_text(cell) for cell in cells}
    rows = dict.fromkeys(cell.row for cell in cells)
    return [("", *columns), *((row, *(by_place.get((row, column), "") for column in columns)) for row in rows)]


def _cell_text(cell: Cell) -> str:
    """Return the paper's number, and ours with its mark."""
    if cell.ours is None:
        return number(cell.paper)
    return BOTH.format(number(cell.paper), number(cell.ours), MARKS[cell.state]).strip()


def _reasons(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a line per reason, with the number of its cells."""
    counted = Counter((cell.state, cell.why) for cell in cells if cell.why)
    for (state, why), count in counted.items():
        yield REASON.format(count, state, why)
