"""Write a file without some of its records: same schema, columns and order. Lines and rows that stay are copied."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import kind_of
from foilworks.core.corpus.import_formats.parsing.column_names import Columns
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.corpus.import_formats.parsing.nested_records import flattened
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits, parquet_library
from foilworks.core.corpus.import_formats.parsing.raw_records import raw_records, without_records
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.records import TextRecord

# The index of a raw record, then the keys and indices that lead to an element of a list inside it.
Unit = tuple[Any, ...]
_INDENT = re.compile(r"[\[{]\r?\n([ \t]+)")


def units_of(
    path: Path, records: Sequence[TextRecord], limits: TableLimits | None = None, columns: Columns | None = None
) -> list[Unit]:
    """Return per record the smallest part of its file that can be removed: an element of a list, or a whole raw record.

    Records of one part stay or leave together. CorpusError: a record of a known format has no line of its own.
    """
    raws, is_parquet = list(raw_records(path, limits)), kind_of(path) == "parquet"
    index_of_line = {raw.line: index for index, raw in enumerate(raws)}
    paths: dict[int, list[Unit]] = {}
    units = []
    for record in records:
        _file, index, inner = record.address or ("", -1, 0)
        if index < 0:
            if len(index_of_line) < len(raws) or record.where not in index_of_line:
                problem = "its records have no lines of their own; convert it to JSON lines or CSV"
                raise CorpusError(f"{path}: file: {problem}")
            units.append((index_of_line[record.where],))
            continue
        if index not in paths:
            paths[index] = list(_paths(raws[index].value, columns or {}, (index,), (index,)))
        units.append(paths[index][inner] if inner < len(paths[index]) and not is_parquet else (index,))
    return units


def _paths(value: Any, columns: Columns, path: Unit, unit: Unit) -> Iterator[Unit]:
    """Yield the unit of each record inside a value, in the order of `flattened`."""
    n = _count(value, columns)
    children: list[tuple[Any, Any]] = []
    if isinstance(value, list):
        children = list(enumerate(value))
    elif isinstance(value, Mapping):
        children = [(name, inner) for name, inner in value.items() if isinstance(inner, list)]
    counts = [_count(inner, columns) for _name, inner in children]
    if n > 1 and sum(counts) == n:
        for (name, inner), count in zip(children, counts, strict=True):
            if count:
                below = (*path, name)
                yield from _paths(inner, columns, below, below if isinstance(value, list) else unit)
    else:
        yield from [unit] * n


def _count(value: Any, columns: Columns) -> int:
    if not isinstance(value, Mapping | list):
        return 0
    try:
        return sum(1 for _ in flattened(value, None, columns))
    except ProblemError:
        return 0


def content_without(
    path: Path,
    kept: Collection[Unit],
    removed: Collection[Unit],
    limits: TableLimits | None = None,
) -> bytes:
    """Return the file without the removed units of `units_of`, as bytes in its own format."""
    # A raw record leaves with the last of its parts.
    whole = {unit[0] for unit in removed} - {unit[0] for unit in kept}
    inner = [unit for unit in removed if unit[0] not in whole]
    kind = kind_of(path)
    if kind == "parquet":
        return _parquet_without(path, whole)
    raws = list(raw_records(path, limits))
    if kind == "json":
        text = read_text(path)
        document = json.loads(text)
        if inner:
            document = _with_values(document, raws, _thinned(raws, inner))
        return _as_text(without_records(document, whole), text).encode()
    return _lines_without(path, raws, whole, _thinned(raws, inner))


def _thinned(raws: Sequence[RawRecord], inner: Collection[Unit]) -> dict[int, Any]:
    """Return the raw records that lose elements of their lists, without these."""
    values = {unit[0]: raws[unit[0]].value for unit in inner}
    values = {index: deepcopy(value) for index, value in values.items()}
    # The last elements first, so that the indices of the others hold.
    for unit in sorted(inner, key=lambda unit: [row if isinstance(row, int) else 0 for row in unit], reverse=True):
        value = values[unit[0]]
        for step in unit[1:-1]:
            value = value[step]
        del value[unit[-1]]
    return values


def _with_values(document: Any, raws: Sequence[RawRecord], values: Mapping[int, Any]) -> Any:
    """Return a document with other values of some raw records, which are members of it or of its only list."""
    if isinstance(document, list):
        return [values.get(index, value) for index, value in enumerate(document)]
    if len(raws) == len(document) and raws[0].key is not None:
        return {name: values.get(index, value) for index, (name, value) in enumerate(document.items())}
    return {
        name: _with_values(value, raws, values) if isinstance(value, list) and len(value) == len(raws) else value
        for name, value in document.items()
    }


def _as_text(document: Any, before: str) -> str:
    indent = _INDENT.search(before[:10_000])
    text = json.dumps(document, ensure_ascii=before.isascii(), indent=indent[1] if indent else None)
    return text + ("\n" if before.endswith("\n") else "")


def _lines_without(path: Path, raws: Sequence[RawRecord], whole: Collection[int], values: Mapping[int, Any]) -> bytes:
    lines = path.read_bytes().splitlines(keepends=True)
    starts = [raw.line - 1 for raw in raws]
    parts = lines[: starts[0]]
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True)):
        if index in values:
            parts.append(json.dumps(values[index], ensure_ascii=lines[start].isascii()).encode() + b"\n")
        elif index not in whole:
            parts += lines[start:end]
    return b"".join(parts)


def _parquet_without(path: Path, whole: Collection[int]) -> bytes:
    arrow, parquet = parquet_library()
    table = parquet.read_table(path)
    rows = [index for index in range(table.num_rows) if index not in whole]
    out = arrow.BufferOutputStream()
    parquet.write_table(table.take(rows), out)
    return bytes(out.getvalue())
