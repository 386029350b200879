"""Rows of a Parquet file, decoded in batches and measured before they become Python objects.

A few kilobytes can decode to gigabytes: a dictionary has one long text, and a million rows refer to it. Texts are
therefore read as dictionaries, whose decoded size is known without decoding them. `foilworks.core.media.child` limits
what the library itself uses.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.arrow_values import is_binary, plain
from foilworks.core.corpus.import_formats.parsing.text_lines import MAX_LINE_BYTES
from foilworks.core.media.child import ChildLimits

_BATCH = 64
# Encodings of texts that the library reads as dictionaries.
_AS_DICTIONARY = frozenset({"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"})
# What a row costs besides its values.
_ROW_BYTES = 64
_CHILD = ChildLimits(memory=2 * 1024**3, seconds=1800)
Row = dict[str, Any]


@dataclass(frozen=True)
class TableLimits:
    """`decoded`: bytes of all rows of one file; `child`: memory and time of the process that decodes it."""

    decoded: int = 512 * 1024**2
    child: ChildLimits = _CHILD


def parquet_columns(file: Path) -> dict[str, bool]:
    """Column -> whether it holds bytes, which no record can. CorpusError: the file cannot be read."""
    with _readable(file) as parquet:
        return {field.name: is_binary(field.type) for field in parquet.read_schema(file)}


def parquet_rows(file: Path, left_out: Collection[str], limit: int) -> Iterator[list[Row]]:
    """Measure the whole file, then yield its rows, in the types of JSON, in lists of at most 16 MiB.

    `left_out`: columns that are not read. `limit`: bytes of all decoded rows; 0 means no limit.

    CorpusError: the file or a value cannot be read, or it decodes to more than the limit; one row decodes to more than
    16 MiB.
    """
    with _readable(file) as parquet:
        metadata = parquet.read_metadata(file)
        groups = [metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups)]
        _check_size(file, max([0, *groups, metadata.num_rows * _ROW_BYTES]), limit)
        size = 0
        for batch in _batches(parquet, file, metadata, left_out):
            size += batch.num_rows * _ROW_BYTES + decoded_bytes(batch)
            _check_size(file, size, limit)
        first = 0
        for batch in _batches(parquet, file, metadata, left_out):
            for piece in _pieces(file, batch, first):
                yield _values(file, piece)
            first += batch.num_rows


@contextmanager
def _readable(file: Path) -> Iterator[Any]:
    """The library, whose errors become a CorpusError."""
    arrow, parquet = parquet_library()
    try:
        yield parquet
    except (arrow.ArrowException, OSError) as error:
        problem = f"is not a readable Parquet file ({' '.join(str(error).split())[:120]})"
        raise CorpusError(f"{file}: file: {problem}; get a whole copy of it") from error


def _values(file: Path, batch: Any) -> list[Row]:
    try:
        return [plain(value) for value in batch.to_pylist()]
    except (ValueError, OverflowError) as error:
        # A time that Python's clocks cannot hold.
        problem = f"a value cannot be read ({' '.join(str(error).split())[:120]})"
        raise CorpusError(f"{file}: columns: {problem}; write the column as text, or leave it out") from error


def _batches(parquet: Any, file: Path, metadata: Any, left_out: Collection[str]) -> Iterator[Any]:
    texts: dict[str, bool] = {}
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            is_text = column.physical_type == "BYTE_ARRAY" and _AS_DICTIONARY.issuperset(column.encodings)
            texts[column.path_in_schema] = is_text and texts.get(column.path_in_schema, True)
    table = parquet.ParquetFile(file, read_dictionary=[path for path, is_text in texts.items() if is_text])
    columns = [name for name in table.schema_arrow.names if name not in left_out] if left_out else None
    # A row group has its own dictionary: the library cannot join those of a list column in one batch.
    for group in range(metadata.num_row_groups):
        yield from table.iter_batches(_BATCH, row_groups=[group], columns=columns, use_threads=False)


def _check_size(file: Path, size: int, limit: int) -> None:
    if limit and size > limit:
        problem = f"decodes to at least {size // 1024**2} MB, more than the limit of {limit // 1024**2} MB"
        raise CorpusError(f"{file}: file: {problem}; split it into several files, or raise the setting MAX_TABLE_MB")


def _pieces(file: Path, batch: Any, first: int) -> Iterator[Any]:
    """Halve the batch until each part is small enough. CorpusError: one row is too large; `first` counts from 0."""
    size = decoded_bytes(batch)
    if size <= MAX_LINE_BYTES:
        yield batch
        return
    if batch.num_rows == 1:
        problem = f"has {size} bytes, more than {MAX_LINE_BYTES}"
        raise CorpusError(f"{file}:{first + 1}: row: {problem}; shorten its texts")
    half = batch.num_rows // 2
    yield from _pieces(file, batch.slice(0, half), first)
    yield from _pieces(file, batch.slice(half), first + half)


def decoded_bytes(values: Any) -> int:
    """Bytes of a record batch or array once each value is stored by itself, without decoding it."""
    arrow, _ = parquet_library()
    if isinstance(values, arrow.RecordBatch):
        return sum(decoded_bytes(column) for column in values.columns)
    if isinstance(values, arrow.ExtensionArray):
        return decoded_bytes(values.storage)
    if isinstance(values, arrow.DictionaryArray):
        return int(values.indices.nbytes) + _values_of(arrow, values)
    if isinstance(values, arrow.StructArray):
        return sum(decoded_bytes(child) for child in values.flatten())
    if isinstance(values, arrow.MapArray):
        return decoded_bytes(values.keys) + decoded_bytes(values.items)
    if isinstance(values, arrow.ListArray | arrow.LargeListArray | arrow.FixedSizeListArray):
        return decoded_bytes(values.flatten()) + 8 * len(values)
    return int(values.nbytes)


def _values_of(arrow: Any, values: Any) -> int:
    """Bytes of the values to which the indices refer, each as often as it is used."""
    import pyarrow.compute as compute

    types, dictionary = arrow.types, values.dictionary
    kind = dictionary.type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind)):
        return int(dictionary.nbytes) * len(values) // max(1, len(dictionary))
    lengths = compute.binary_length(dictionary)
    return int(compute.sum(compute.take(lengths, values.indices)).as_py() or 0)


def parquet_library() -> tuple[Any, Any]:
    """(pyarrow, pyarrow.parquet). CorpusError where it is not installed: pages do without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise CorpusError("pyarrow: is not installed; install it with `pip install 'foilworks[parquet]'`") from error
    return pyarrow, pyarrow.parquet
