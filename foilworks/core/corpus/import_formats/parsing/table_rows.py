"""Read comma- or tab-separated tables: a header with column names, one record per row, errors with their line."""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.header_rows import MAX_ROWS_ABOVE, header_index, is_below_title
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.text_lines import MAX_LINE_BYTES, rows_of_text
from foilworks.core.text.quoting import quoted, shortened

COMMA, SEMICOLON, TAB = ",", ";", "\t"
JSON_ENDINGS = frozenset({".jsonl", ".ndjson", ".json"})
# Of a header that is shown in a complaint.
# Not of three digits behind the comma, unless it starts with a zero.
_DECIMAL_COMMA = re.compile(r"\s*-?(0,\d+|\d+,(\d\d?|\d{4,}))(E-\d+)?\s*")
_SHOWN_NAMES, _SHOWN_NAME = 12, 40


def read_rows(
    path: Path,
    required: Sequence[str],
    delimiters: str = COMMA,
    *,
    one_of: Sequence[str] = (),
    names: Collection[str] = (),
) -> Iterator[RawRecord]:
    """The rows below the header, cells by column (an empty cell is None). The header must name the `required` columns.

    Of several possible delimiters the one counts that makes the header name them. `one_of`: columns of which a record
    needs one at least, the usual one first. `names`: columns of names and ids, whose outer blanks mean
    nothing. CorpusError, with its line: no such file, not UTF-8,
    a quote that is never closed, a header without these columns.
    """
    delimiter, header = _header(path, required, delimiters, one_of)
    for raw in rows_below(path, delimiter, header.names, header.line):
        cells = {name: (cell.strip() if name in names else cell) or None for name, cell in raw.value.items()}
        yield raw._replace(value=cells)


def rows_below(path: Path, delimiter: str, columns: Sequence[str], header_line: int) -> Iterator[RawRecord]:
    """The rows besides the header, cells by column; those without any text are passed over."""
    for line, values in split_rows(path, delimiter):
        if line <= header_line or not any(value.strip() for value in values):
            continue
        if len(values) != len(columns):
            yield RawRecord(None, {}, line, f"has {len(values)} cells where the header has {len(columns)}", "row")
        else:
            yield RawRecord(None, dict(zip(columns, values, strict=True)), line)


class Header(NamedTuple):
    """The names of the columns, the line that they are on, and whether a title is above it."""

    names: list[str]
    line: int
    is_below_title: bool = False


def _header(path: Path, required: Sequence[str], delimiters: str, one_of: Sequence[str]) -> tuple[str, Header]:
    headers = [(delimiter, first_row(path, delimiter)) for delimiter in delimiters]
    tables = [(delimiter, header) for delimiter, header in headers if set(required) <= set(header.names)]
    if tables:
        check_names(path, tables[0][1])
        if not one_of or set(one_of) & set(tables[0][1].names):
            return tables[0]
    # What is no table by any of the delimiters is taken for one by that which makes the most columns of it.
    raise _without_columns(
        path, max((header for _, header in headers), key=lambda header: len(header.names)), required, one_of
    )


def _without_columns(path: Path, header: Header, required: Sequence[str], one_of: Sequence[str]) -> CorpusError:
    if path.suffix.lower() in JSON_ENDINGS and "".join(header.names)[:1] in {"{", "["}:
        return _error(path, header.line, "file", "looks like JSON, not a table", "choose JSON lines (jsonl)")
    usual_columns = list(one_of[:1])
    missing_columns = [name for name in required if name not in header.names]
    missing_columns += usual_columns if not set(one_of) & set(header.names) else []
    has = ", ".join(shortened(name, _SHOWN_NAME) for name in header.names[:_SHOWN_NAMES] if name) or "none"
    ellipsis = ", …" if len(header.names) > _SHOWN_NAMES else ""
    problem = f"has no column {', '.join(missing_columns)} (its columns: {has}{ellipsis})"
    fix = f"name the columns in the first line: {', '.join([*required, *usual_columns])}"
    alternatives = f" (or {', '.join(one_of[1:])}), or choose Any table (table)" if one_of[1:] else ""
    return _error(path, header.line, "header", problem, fix + alternatives)


def first_row(path: Path, delimiter: str) -> Header:
    """The first row that is not blank, or one below a title, its cells trimmed; without names if it cannot be split."""
    rows = list(islice((row for row in _rows_before_fault(path, delimiter) if any(row[1])), MAX_ROWS_ABOVE))
    texts = [values for _line, values in rows]
    index = header_index(texts)
    is_below = index > 0 and is_below_title(texts, index)
    line, values = rows[index if is_below else 0] if rows else (1, [])
    return Header([value.strip() for value in values], line, is_below)


def _rows_before_fault(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    with suppress(_QuotesError):
        yield from split_rows(path, delimiter)


def check_names(path: Path, header: Header) -> None:
    """CorpusError: a column without a name, or two with one name."""
    seen: set[str] = set()
    for index, name in enumerate(header.names):
        if not name:
            raise _error(
                path, header.line, "header", f"has no name for column {index + 1}", "name it, or remove the column"
            )
        if name in seen:
            raise _error(
                path, header.line, "header", f"has two columns {quoted(name)}", "give each column its own name"
            )
        seen.add(name)


class _QuotesError(CorpusError):
    """A quoted text is not closed: not by this delimiter, at least."""


def split_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line that it starts on, values) of every row that is not blank."""
    # The module's own limit is low, and one for the process; how long a text may be is said record by record.
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader(rows_of_text(path), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fix = "close it, and double the quotes inside it"
            raise _QuotesError(str(_error(path, line, "quotes", "a quoted text is not closed", fix))) from error
        if values:
            yield line, values if delimiter == COMMA else [_with_point(value) for value in values]


def _with_point(cell: str) -> str:
    """A number with a decimal comma, which the delimiter allows, with a point; 1,234 may be a thousand."""
    return cell.replace(",", ".") if "," in cell and _DECIMAL_COMMA.fullmatch(cell) else cell


def _error(path: Path, line: int, field: str, problem: str, fix: str) -> CorpusError:
    return CorpusError(f"{path}:{line}: {field}: {problem}; {fix}")
