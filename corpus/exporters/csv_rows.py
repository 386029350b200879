"""`csv`: the released items as one table in the columns that the importer of the same name reads.

Cells that a spreadsheet would run get an apostrophe before them; the importer takes it off again.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus.exporters._folder import write_folder
from corpus.exporters._released import manifest_facts, released_items
from corpus.exporters.jsonl import line
from corpus.importers.jsonl import COLUMNS
from corpus.records import ReleaseContent
from text.csv_cells import safe_cell

FILE = "records.csv"
USES_TABLES = False


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    records = [line(item) for item in released_items(release)]
    facts = manifest_facts(release, "csv", len(records))
    return write_folder(out, facts, lambda folder: _write(folder / FILE, records))


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    records = list(records)
    used = [name for name in COLUMNS if any(name in record for record in records)]
    with path.open("w", encoding="utf-8", newline="") as file:
        # As RFC 4180 has it: so a carriage return within a cell is quoted.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(used)
        writer.writerows([_cell(record.get(name)) for name in used] for record in records)


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return "" if value is None else repr(value)
