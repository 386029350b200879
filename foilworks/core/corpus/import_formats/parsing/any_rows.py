"""Read the rows of any table: CSV or TSV, JSON lines, JSON with a list of records, Parquet. One row is one object."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.grouped_rows import MAX_GROUPED, grouping_columns, with_groups
from foilworks.core.corpus.import_formats.parsing.json_records import member_paths, members_at, parse_line, read_text
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits, parquet_columns, parquet_rows
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, json_lines
from foilworks.core.corpus.import_formats.parsing.row_values import KEY, VALUE
from foilworks.core.corpus.import_formats.parsing.sheets import ENDINGS
from foilworks.core.corpus.import_formats.parsing.table_rows import (
    COMMA,
    SEMICOLON,
    TAB,
    Header,
    check_names,
    first_row,
    rows_below,
)
from foilworks.core.corpus.import_formats.parsing.text_lines import lines
from foilworks.core.corpus.rules.escaped_cells import CellReader
from foilworks.core.media.child import LimitError, run, stream

# Of the first column of a table that a data frame wrote; the second if another column has the first.
INDEX = ("index", "(index)")
_KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    **dict.fromkeys(ENDINGS, "csv"),
}


# The only line of a file that is parsed to tell one record from records by their ids.
MAX_LINE = 1_000_000


def kind_of(path: Path) -> str:
    """csv, jsonl, json or parquet: by the name, else by the first characters. CorpusError: the file is not readable."""
    kind = _KINDS.get(path.suffix.lower())
    if kind in {"csv", "parquet"}:
        return kind
    first = lines(path)
    start, next_line = ((next(first, (0, ""))[1] or "").lstrip() for _ in range(2))
    if kind != "json" and start[:1] == "{" and not next_line and len(start) < MAX_LINE:
        return "json" if _is_by_id(start) else "jsonl"
    if kind == "jsonl" or start[:1] not in {"{", "["}:
        return kind if kind == "jsonl" else "csv"
    return "jsonl" if start[:1] == "{" and next_line[:1] == "{" and _is_json(start) else "json"


def rows_of(path: Path, limits: TableLimits, *, records: str = "", header: Sequence[str] = ()) -> Iterator[RawRecord]:
    """The rows of one file. `records`: path of the list in a JSON file; `header`: names for a table without them.

    CorpusError: the file as a whole cannot be read.
    """
    kind = kind_of(path)
    if kind == "csv":
        yield from _table(path, header)
    elif kind == "jsonl":
        yield from (raw if raw.problem else raw._replace(value=_row(None, raw.value)) for raw in json_lines(path))
    elif kind == "json":
        for member in members_at(path, read_text(path), records):
            yield RawRecord(member.key, _row(member.key, member.value), member.line)
    else:
        yield from parquet_records(path, limits)


def lists_of(path: Path) -> list[str]:
    """Paths of the lists and objects in a JSON file that may hold its records, the likeliest first."""
    return member_paths(path, read_text(path)) if kind_of(path) == "json" else []


def _is_by_id(line: str) -> bool:
    """Report whether the only line of a file is an object of objects or lists: records by their ids, not a record."""
    try:
        value = parse_line(line)
    except ValueError:
        return False
    return isinstance(value, dict) and bool(value) and all(isinstance(one, dict | list) for one in value.values())


def _is_json(line: str) -> bool:
    try:
        parse_line(line)
    except ValueError:
        return False
    return True


def _row(key: str | None, value: Any) -> dict[str, Any]:
    row = dict(value) if isinstance(value, dict) else {VALUE: value}
    return row if key is None else {KEY: key, **row}


def _table(path: Path, header: Sequence[str]) -> Iterator[RawRecord]:
    delimiter, first = header_of(path)
    names, first_line = (list(header), 0) if header else (_unique_names(path, first), first.line)
    reader = CellReader(path, names)
    rows = (raw._replace(value=reader.read(raw.value)) for raw in rows_below(path, delimiter, names, first_line))
    sample = list(islice(rows, MAX_GROUPED))
    yield from with_groups(chain(sample, rows), grouping_columns([raw.value for raw in sample if not raw.problem]))


def header_of(path: Path) -> tuple[str, Header]:
    """The delimiter that makes the most columns of the first row, and this row."""
    headers = [(delimiter, first_row(path, delimiter)) for delimiter in (COMMA, TAB, SEMICOLON)]
    # What splits only the rows below is a mark inside texts, if another delimiter splits the first row.
    return max(headers, key=lambda pair: (len(pair[1].names) > 1 and not pair[1].is_below_title, len(pair[1].names)))


def _unique_names(path: Path, header: Header) -> list[str]:
    unnamed = next(name for name in INDEX if name not in header.names)
    names = [name or (f"column {index + 1}" if index else unnamed) for index, name in enumerate(header.names)]
    check_names(path, Header(names, header.line))
    if not names:
        raise CorpusError(f"{path}:1: quotes: a quoted text is not closed; close it, and double the quotes inside it")
    return names


def parquet_records(path: Path, limits: TableLimits) -> Iterator[RawRecord]:
    """The rows of a Parquet file without its columns of bytes. CorpusError: it cannot be read, or is too large."""
    number = 0
    try:
        holds_bytes = run(limits.child, parquet_columns, path)
        left_out = [name for name, is_bytes in holds_bytes.items() if is_bytes]
        for rows in stream(limits.child, parquet_rows, path, left_out, limits.decoded):
            for row in rows:
                number += 1
                yield RawRecord(None, row, number)
    except LimitError as error:
        raise CorpusError(f"{path}: file: {error}") from error
