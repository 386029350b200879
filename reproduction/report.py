"""Write a result as report.md, report.json and cells.csv."""

import csv
import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from reproduction.records import Cell, Result, count_states
from text.storable import safe_row

HEAD = ("table", "row", "column", "paper", "ours", "state", "why")
NOTHING = "–"
TITLE = "# {}: the paper's tables beside ours\n"
LINE = "| {} |"
COUNT = "{} {}"
SECTION = "\n## {}\n"


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
    """Return one table per table of the paper, each cell with its state and reason."""
    parts = [TITLE.format(result.paper), summary(result), ""]
    for name, cells in groupby(result.cells, key=lambda cell: cell.table):
        head = [LINE.format(" | ".join(HEAD[1:])), LINE.format(" | ".join("---" for _ in HEAD[1:]))]
        parts += [SECTION.format(name), *head, *map(_line, cells)]
    for title, lines in (("Notes", result.notes), ("Missing sources", result.missing)):
        if lines:
            parts += [SECTION.format(title), *(f"- {line}" for line in lines)]
    return "\n".join(parts) + "\n"


def summary(result: Result) -> str:
    """Return the number of cells per state in one line."""
    counted = count_states(result.cells)
    told = ", ".join(COUNT.format(count, state) for state, count in counted.items()) or "none"
    return f"{len(result.cells):,} cells: {told}"


def number(value: float | None) -> str:
    """Return up to three decimals without closing zeros, or a dash."""
    return NOTHING if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _line(cell: Cell) -> str:
    shown = (cell.row, cell.column, number(cell.paper), number(cell.ours), cell.state, cell.why)
    return LINE.format(" | ".join(text.replace("|", "\\|") for text in shown))
