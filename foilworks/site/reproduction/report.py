"""Write a result as Markdown, as JSON and as a table of cells."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from foilworks.core.text.storable import safe_row
from foilworks.site.reproduction.table_cells import Cell, Result, State, count_states

HEAD = ("table", "row", "column", "paper", "ours", "state", "why")
NOTHING = "–"
TITLE = "# {}: the paper's tables beside ours\n"
LINE = "| {} |"
COUNT = "{} {}"
SECTION, POINT, BOTH, REASON = "\n## {}\n", "- {}", "{} / {} {}", "{} {}: {}"
MARKS: Mapping[State, str] = {"equal": "=", "differs": "≠", "simulated": "S", "tiny model": "T", "not public": ""}
LEGEND = (
    "\nEach cell is the paper's number / ours. = equal, ≠ differs, S simulated people, T tiny model. A cell with one "
    "number is not public."
)


def write_report(result: Result, folder: Path) -> list[Path]:
    """Write the three files into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    markdown, records, table = (folder / name for name in ("report.md", "report.json", "cells.csv"))
    markdown.write_text(markdown_of(result), encoding="utf-8")
    records.write_text(json.dumps(as_json(result), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(safe_row(asdict(cell)[name] for name in HEAD) for cell in result.cells)
    return [markdown, records, table]


def as_json(result: Result) -> dict[str, Any]:
    """Return the result with the number of cells per state."""
    return {**asdict(result), "states": count_states(result.cells)}


def markdown_of(result: Result) -> str:
    """Return the paper's tables with both numbers in each cell, and below each the reasons of its cells."""
    blocks = [TITLE.format(result.paper), summary(result), LEGEND]
    for name, cells in groupby(result.cells, key=lambda cell: cell.table):
        blocks += [SECTION.format(name), *_table(rows := list(cells)), "", *_reasons(rows)]
    for title, lines in (("Notes", result.notes), ("Missing sources", result.missing)):
        if lines:
            blocks += [SECTION.format(title), *(POINT.format(line) for line in lines)]
    return "\n".join(blocks) + "\n"


def summary(result: Result) -> str:
    """Return the number of cells per state in one line."""
    counted = count_states(result.cells)
    counts = ", ".join(COUNT.format(count, state) for state, count in counted.items()) or "none"
    return f"{len(result.cells):,} cells: {counts}"


def number(value: float | None) -> str:
    """Return two decimals, three of a number below one, without closing zeros; or a dash."""
    if value is None:
        return NOTHING
    digits = 3 if abs(value) < 1 else 2
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.row, cell.column): _cell_text(cell) for cell in cells}
    yield _line("", *columns)
    yield _line("---", *("--:" for _column in columns))
    for row in dict.fromkeys(cell.row for cell in cells):
        yield _line(row, *(by_place.get((row, column), "") for column in columns))


def _cell_text(cell: Cell) -> str:
    """Return the paper's number, and ours with its mark."""
    if cell.ours is None:
        return number(cell.paper)
    return BOTH.format(number(cell.paper), number(cell.ours), MARKS[cell.state])


def _reasons(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a line per reason, with the number of its cells."""
    counted = Counter((cell.state, cell.why) for cell in cells if cell.why)
    for (state, why), count in counted.items():
        yield POINT.format(REASON.format(count, state, why))


def _line(*cells: str) -> str:
    return LINE.format(" | ".join(cell.replace("|", "\\|") for cell in cells))
