"""`hf`: a folder of Parquet files in the columns of `jsonl`, as the exporter of the same name writes it.

PATH is the folder (its `data/*.parquet`, else its own `*.parquet`) or one such file. `facts` and `extra` are JSON text.
A record's line is its number in its file.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import jsonl
from foilworks.core.corpus.import_formats.csv_rows import parse_cell
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits, parquet_columns, parquet_rows
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, default_subtest, read_records
from foilworks.core.corpus.records import ItemRecord, ReadOutcome, RecordWarning
from foilworks.core.media.child import LimitError, run, stream

TAKES_LIMITS = True
_JSON = ("facts", "extra")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the folder. CorpusError: no Parquet file there, one that cannot be read or lacks id or caption."""
    limits = params.get("limits") or TableLimits()
    for file in parquet_files(path):
        try:
            yield from _read_file(file, params, limits)
        except LimitError as error:
            raise CorpusError(f"{file}: file: {error}") from error


def _read_file(file: Path, params: Mapping[str, Any], limits: TableLimits) -> Iterator[ReadOutcome]:
    left_out = _binary_columns(file, limits)
    for name in left_out:
        yield RecordWarning(f"{file}:1", name, "contains binary data, which records cannot: column skipped")
    yield from read_records(file, _rows(file, left_out, limits), partial(_parse, default_subtest(file, params)))


def _parse(subtest: str, raw: RawRecord) -> ItemRecord:
    return jsonl.parse(_plain(raw), subtest)


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder, or the one file. CorpusError: there is none."""
    if not path.exists():
        raise CorpusError(f"{path}: folder: there is no such folder; check the path")
    files = [path] if path.is_file() else sorted((path / "data").glob("*.parquet")) or sorted(path.glob("*.parquet"))
    if not files:
        raise CorpusError(f"{path}: folder: has no Parquet file; give the folder that holds data/*.parquet")
    return files


def has_our_columns(path: Path, limits: TableLimits | None = None) -> bool:
    """Whether the folder's first file has the columns of an item with foils. CorpusError: no file can be read."""
    file = parquet_files(path)[0]
    try:
        return {"id", "caption", "foils"} <= run((limits or TableLimits()).child, parquet_columns, file).keys()
    except LimitError as error:
        raise CorpusError(f"{file}: file: {error}") from error


def _binary_columns(file: Path, limits: TableLimits) -> list[str]:
    """The columns of bytes that no record needs. CorpusError: one that a record does need, or columns are missing."""
    holds_bytes = run(limits.child, parquet_columns, file)
    missing = {"id", "caption"} - set(holds_bytes)
    if missing:
        problem = f"has no column {min(missing)}; name the columns as in docs/reference/formats.md"
        raise CorpusError(f"{file}:1: columns: {problem}")
    binary = [name for name, is_bytes in holds_bytes.items() if is_bytes]
    for name in binary:
        if name in jsonl.COLUMNS:
            raise CorpusError(f"{file}:1: {name}: contains binary data; give {jsonl.COLUMNS[name]}")
    return binary


def _rows(file: Path, left_out: Collection[str], limits: TableLimits) -> Iterator[RawRecord]:
    number = 0
    for rows in stream(limits.child, parquet_rows, file, left_out, limits.decoded):
        for row in rows:
            number += 1
            yield RawRecord(None, row, number)


def _plain(raw: RawRecord) -> RawRecord:
    """The row as a line of JSON would say it, its JSON text parsed."""
    record = dict(raw.value)
    for holder in (record, record.get("proficiency", {})):
        for name in _JSON:
            if isinstance(holder.get(name), str):
                holder[name] = parse_cell(name, holder[name])
    return raw._replace(value=record)
