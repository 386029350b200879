"""CSV files by header, each record a `Row`; every complaint names path, line and column."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpus.importers.parsing.json_records import read_text
from evaluation.score_files.json_records import Row, fail


def csv_records(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Header names in small letters; an empty cell is an absent one. EvaluationError: a column of `needed` is missing,
    or a line has more cells than the header."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or []]
        for name in needed:
            if name not in names:
                fail(path, 1, name, "the header has no such column", f"name the columns {','.join(needed)}")
        reader.fieldnames = names
        for cells in reader:
            # What is beyond the header stands under None.
            if cells.get(None):
                fail(path, reader.line_num, "record", "has more cells than the header", "mend the line")
            yield Row(path, reader.line_num, {name: cell for name, cell in cells.items() if cell})
    except csv.Error as error:
        fail(path, reader.line_num, "CSV", str(error), "mend the file")
