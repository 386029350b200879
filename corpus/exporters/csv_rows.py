"""`csv`: the released items as one table in the columns that the importer of the same name reads.

Cells that a spreadsheet would run get an apostrophe before them; the importer takes it off again.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus.exporters.jsonl import line
from corpus.exporters.parts.folder import write_folder
from corpus.exporters.parts.released_items import manifest_facts, released_items
from corpus.importers.jsonl import COLUMNS
from corpus.records import ItemRecord, RecordContent, ReleaseContent
from text.storable import safe_cell

FILE = "records.csv"
USES_TABLES = False
TAKES_RECORDS = True


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = released_items(release)
    facts = manifest_facts(release, "csv", len(items))
    return write_folder(out, facts, lambda folder: _write(folder / FILE, items))


def _write(path: Path, items: Iterable[ItemRecord]) -> None:
    """`items` are gone through twice: which columns there are is known at the end only."""
    there = {name for item in items for name in line(item)}
    used = [name for name in COLUMNS if name in there]
    with path.open("w", encoding="utf-8", newline="") as file:
        # As RFC 4180 has it: so a carriage return within a cell is quoted.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(used)
        for record in map(line, items):
            writer.writerow([_cell(record.get(name)) for name in used])


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return "" if value is None else repr(value)
