"""`hf`: a folder of Parquet files in the columns of `jsonl`, as the exporter of the same name writes it.

PATH is the folder (its `data/*.parquet`, else its own `*.parquet`) or one such file. `facts` and `extra` are JSON text.
A record's line is its number in its file.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import CorpusError
from corpus.importers import jsonl
from corpus.importers.csv_rows import parse_cell
from corpus.importers.parsing.arrow_values import is_binary, plain
from corpus.importers.parsing.records import RawRecord, default_subtest, read_records
from corpus.records import ItemRecord, ReadOutcome, RecordWarning

_BATCH = 1_000
# Unpacked, of one group of rows, which is read in one piece: what compresses well must not fill the memory.
MAX_BYTES = 1024 * 1024 * 1024
_JSON = ("facts", "extra")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the folder. CorpusError: no Parquet file there, one that cannot be read or lacks id or caption."""
    for file in _files(path):
        left_out = _binary_columns(file)
        for name in left_out:
            yield RecordWarning(f"{file}:1", name, "holds binary data, which no record can: the column is left out")
        yield from read_records(file, _rows(file, left_out), partial(_parse, default_subtest(file, params)))


def _parse(subtest: str, raw: RawRecord) -> ItemRecord:
    return jsonl.parse(_plain(raw), subtest)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise CorpusError(f"{path}: folder: there is no such folder; check the path")
    found = [path] if path.is_file() else sorted((path / "data").glob("*.parquet")) or sorted(path.glob("*.parquet"))
    if not found:
        raise CorpusError(f"{path}: folder: has no Parquet file; give the folder that holds data/*.parquet")
    return found


def _binary_columns(file: Path) -> list[str]:
    """The columns of bytes that no record needs. CorpusError: one that a record does need, or columns are missing."""
    with _opened(file) as table:
        schema = table.schema_arrow
        missing = {"id", "caption"} - set(schema.names)
        if missing:
            problem = f"has no column {min(missing)}; name the columns as in docs/reference/formats.md"
            raise CorpusError(f"{file}:1: columns: {problem}")
        binary = [field.name for field in schema if is_binary(field.type)]
        for name in binary:
            if name in jsonl.COLUMNS:
                raise CorpusError(f"{file}:1: {name}: holds binary data; give {jsonl.COLUMNS[name]}")
        return binary


def _rows(file: Path, left_out: Collection[str]) -> Iterator[RawRecord]:
    with _opened(file) as table:
        _check_size(file, table)
        columns = [name for name in table.schema_arrow.names if name not in left_out]
        number = 0
        for batch in table.iter_batches(_BATCH, columns=columns if left_out else None):
            for value in _values(file, batch):
                number += 1
                yield RawRecord(None, value, number)


def _values(file: Path, batch: Any) -> list[dict[str, Any]]:
    try:
        return [plain(value) for value in batch.to_pylist()]
    except (ValueError, OverflowError) as error:
        # A time that Python's clocks cannot hold.
        problem = f"a value cannot be read ({' '.join(str(error).split())[:120]})"
        raise CorpusError(f"{file}: columns: {problem}; write the column as text, or leave it out") from error


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    arrow, parquet = parquet_library()
    try:
        with parquet.ParquetFile(file) as table:
            yield table
    except (arrow.ArrowException, OSError) as error:
        problem = f"is no Parquet file that can be read ({' '.join(str(error).split())[:120]})"
        raise CorpusError(f"{file}: file: {problem}; get a whole copy of it") from error


def _check_size(file: Path, table: Any) -> None:
    groups = [table.metadata.row_group(at).total_byte_size for at in range(table.metadata.num_row_groups)]
    if max(groups, default=0) > MAX_BYTES:
        problem = f"a part of it unpacks to {max(groups)} bytes, more than {MAX_BYTES}"
        raise CorpusError(f"{file}: file: {problem}; write it in smaller row groups")


def _plain(raw: RawRecord) -> RawRecord:
    """The row as a line of JSON would say it, its JSON text parsed."""
    record = dict(raw.value)
    for holder in (record, record.get("proficiency", {})):
        for name in _JSON:
            if isinstance(holder.get(name), str):
                holder[name] = parse_cell(name, holder[name])
    return raw._replace(value=record)


def parquet_library() -> tuple[Any, Any]:
    """(pyarrow, pyarrow.parquet). CorpusError where it is not installed: pages do without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise CorpusError("pyarrow: is not installed; install it with `pip install 'foilworks[models]'`") from error
    return pyarrow, pyarrow.parquet
