"""`csv`: the released items as one table in the columns that the importer of the same name reads.

Cells that a spreadsheet would run get an apostrophe before them, which a last column names; the importer takes it off.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.jsonl import line
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.import_formats.jsonl import COLUMNS
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent
from foilworks.core.corpus.rules.escaped_cells import ESCAPED, escaped

FILE = "records.csv"


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = released_items(release)
    facts = manifest_facts(release, "csv", len(items))
    encoding = "utf-8-sig" if params.get("bom") else "utf-8"
    return write_folder(out, facts, lambda folder: _write(folder / FILE, items, encoding))


def _write(path: Path, items: Iterable[ItemRecord], encoding: str) -> None:
    """`items` are gone through twice: which columns there are is known at the end only."""
    used_columns = {name for item in items for name in _cells(item)}
    columns = [name for name in (*COLUMNS, ESCAPED) if name in used_columns]
    with path.open("w", encoding=encoding, newline="") as file:
        # As RFC 4180 has it: so a carriage return within a cell is quoted.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(columns)
        for cells in map(_cells, items):
            writer.writerow([cells.get(name, "") for name in columns])


def _cells(item: ItemRecord) -> dict[str, Any]:
    """Column -> cell; ESCAPED is among them if a cell got an apostrophe."""
    cells = escaped(line(item))
    texts = {name: cell if isinstance(cell, str) else _cell(cell) for name, cell in cells.items()}
    return texts if cells[ESCAPED] else {name: cell for name, cell in texts.items() if name != ESCAPED}


def _cell(value: Any) -> str:
    if isinstance(value, list | dict):
        # Within JSON a semicolon is text: it can be written so that no spreadsheet takes it for a separator.
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True).replace(";", "\\u003b")
    return "" if value is None else repr(value)
