"""`hf`: a folder of Parquet files in the columns of `jsonl`, as the exporter of the same name writes it.

PATH is the folder (its `data/*.parquet`, else its own `*.parquet`) or one such file. `facts` and `extra` are JSON text.
A record's line is its number in its file.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import CorpusError
from corpus.importers import jsonl
from corpus.importers.csv_rows import parse_cell
from corpus.importers.parsing.parquet_rows import TableLimits, parquet_rows
from corpus.importers.parsing.records import RawRecord, default_subtest, read_records
from corpus.records import ItemRecord, ReadOutcome
from media.child import LimitError, stream

TAKES_LIMITS = True
_REQUIRED = ("id", "caption")
_JSON = ("facts", "extra")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the folder. CorpusError: no Parquet file there, one that cannot be read or lacks id or caption."""
    for file in _files(path):
        yield from read_records(
            file, _rows(file, params.get("limits") or TableLimits()), partial(_parse, default_subtest(file, params))
        )


def _parse(subtest: str, raw: RawRecord) -> ItemRecord:
    return jsonl.parse(_plain(raw), subtest)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise CorpusError(f"{path}: folder: there is no such folder; check the path")
    found = [path] if path.is_file() else sorted((path / "data").glob("*.parquet")) or sorted(path.glob("*.parquet"))
    if not found:
        raise CorpusError(f"{path}: folder: has no Parquet file; give the folder that holds data/*.parquet")
    return found


def _rows(file: Path, limits: TableLimits) -> Iterator[RawRecord]:
    number = 0
    try:
        for rows in stream(limits.child, parquet_rows, file, _REQUIRED, limits.decoded):
            for row in rows:
                number += 1
                yield RawRecord(None, row, number)
    except LimitError as error:
        raise CorpusError(f"{file}: file: {error}") from error


def _plain(raw: RawRecord) -> RawRecord:
    """The row as a line of JSON would say it: without the nulls that a table has everywhere, JSON text parsed."""
    record = _without_nulls(raw.value)
    for holder in (record, record.get("proficiency", {})):
        for name in _JSON:
            if isinstance(holder.get(name), str):
                holder[name] = parse_cell(name, holder[name])
    return raw._replace(value=record)


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_nulls(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }
