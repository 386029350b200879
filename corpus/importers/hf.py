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
from corpus.importers.parsing.records import RawRecord, default_subtest, read_records
from corpus.records import ItemRecord, ReadOutcome

_BATCH = 1_000
# Unpacked, of one group of rows, which is read in one piece: what compresses well must not fill the memory.
MAX_BYTES = 1024 * 1024 * 1024
_JSON = ("facts", "extra")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the folder. CorpusError: no Parquet file there, one that cannot be read or lacks id or caption."""
    for file in _files(path):
        yield from read_records(file, _rows(file), partial(_parse, default_subtest(file, params)))


def _parse(subtest: str, raw: RawRecord) -> ItemRecord:
    return jsonl.parse(_plain(raw), subtest)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise CorpusError(f"{path}: folder: there is no such folder; check the path")
    found = [path] if path.is_file() else sorted((path / "data").glob("*.parquet")) or sorted(path.glob("*.parquet"))
    if not found:
        raise CorpusError(f"{path}: folder: has no Parquet file; give the folder that holds data/*.parquet")
    return found


def _rows(file: Path) -> Iterator[RawRecord]:
    arrow, parquet = parquet_library()
    try:
        table = parquet.ParquetFile(file)
        missing = {"id", "caption"} - set(table.schema_arrow.names)
        if missing:
            problem = f"has no column {min(missing)}; name the columns as in docs/reference/formats.md"
            raise CorpusError(f"{file}:1: columns: {problem}")
        _check_size(file, table)
        number = 0
        for batch in table.iter_batches(_BATCH):
            for value in batch.to_pylist():
                number += 1
                yield RawRecord(None, value, number)
    except (arrow.ArrowException, OSError) as error:
        problem = f"is no Parquet file that can be read ({' '.join(str(error).split())[:120]})"
        raise CorpusError(f"{file}: file: {problem}; get a whole copy of it") from error


def _check_size(file: Path, table: Any) -> None:
    groups = [table.metadata.row_group(at).total_byte_size for at in range(table.metadata.num_row_groups)]
    if max(groups, default=0) > MAX_BYTES:
        problem = f"a part of it unpacks to {max(groups)} bytes, more than {MAX_BYTES}"
        raise CorpusError(f"{file}: file: {problem}; write it in smaller row groups")


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


def parquet_library() -> tuple[Any, Any]:
    """(pyarrow, pyarrow.parquet). CorpusError where it is not installed: pages do without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise CorpusError("pyarrow: is not installed; install it with `pip install 'foilworks[models]'`") from error
    return pyarrow, pyarrow.parquet
