"""Cells of our own tables that got an apostrophe, and how a reader knows them from everybody else's. Pure.

An apostrophe before a formula keeps a spreadsheet from running it; one before or behind a blank keeps that blank. The
column ESCAPED of a row names the cells that got one. Tables of 0.1 have no such column, and a manifest beside them.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.text.storable import mark, plain_cell, safe_cell, unmark

ESCAPED = "foilworks_escaped"
_MANIFEST = "manifest.json"
# What 0.1 wrote before a formula: one apostrophe, whatever follows.
_OF_0_1 = re.compile(r"''*[=+\-@\t\r]")


def escaped(values: Mapping[str, Any]) -> dict[str, Any]:
    """The row with an apostrophe before each text that needs one, and ESCAPED, "" if none does."""
    cells = {name: _escaped(value) if isinstance(value, str) else value for name, value in values.items()}
    return {**cells, ESCAPED: " ".join(name for name, cell in cells.items() if cell != values[name])}


def _escaped(text: str) -> str:
    return safe_cell(text) if text == text.strip() else mark(text)


class CellReader:
    """Reads the cells of a table: `names` of its columns hold names and ids, whose outer blanks mean nothing."""

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self.is_of_0_1 = _is_our_export(path)
        # Columns of the row read last whose text starts as an escaped one does, and that no export named.
        self.kept_apostrophes: set[str] = set()

    def read(self, cells: Mapping[str, str | None]) -> dict[str, str]:
        """The cells that say something, as they were before our export made them safe."""
        listed = (cells.get(ESCAPED) or "").split()
        self.kept_apostrophes = set()
        read_cells = {}
        for name, cell in cells.items():
            if cell is None or name == ESCAPED:
                continue
            if name in listed:
                read_cells[name] = unmark(cell)
            elif self.is_of_0_1:
                read_cells[name] = cell[1:] if _OF_0_1.match(cell) else cell
            else:
                read_cells[name] = cell.strip() if name in self.names else cell
                if cell[:1] == "'" and plain_cell(cell) != cell:
                    self.kept_apostrophes.add(name)
        return {name: cell for name, cell in read_cells.items() if cell}


def _is_our_export(path: Path) -> bool:
    try:
        manifest = json.loads((path.parent / _MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest.get("made_by") == "foilworks" and path.name in manifest["files"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
