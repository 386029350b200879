"""Turn the sheet of a spreadsheet (XLSX, XLSM, XLS, ODS) into the text of a table, as every reader reads it."""

import csv
import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.header_rows import MAX_ROWS_ABOVE, header_index, n_filled
from foilworks.core.media.child import ChildLimits, LimitError, run

ENDINGS = frozenset({".xlsx", ".xlsm", ".xls", ".ods"})
_CHILD = ChildLimits(memory=2 * 1024**3, seconds=600)
# A small archive can unpack to gigabytes.
MAX_UNPACKED_BYTES = 512 * 1024**2
_ZIP, _OLE = b"PK\3\4", b"\xd0\xcf\x11\xe0"
_PARTS = frozenset({"xl/workbook.xml", "content.xml"})
# Above, a spreadsheet no longer has all digits of a number.
_EXACT = 10**15
Rows = list[list[Any]]


def is_sheet(file: BinaryIO, name: str) -> bool:
    """Report whether an open file is a spreadsheet, by its bytes; a damaged one by its name, too.

    Its position is at the start again.
    """
    start = file.read(4)
    file.seek(0)
    if start == _OLE:
        return True
    if start != _ZIP:
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return not _PARTS.isdisjoint(archive.namelist())
    except zipfile.BadZipFile:
        return name.lower().endswith(tuple(ENDINGS))
    finally:
        file.seek(0)


def sheet_text(path: Path) -> str:
    """Return the largest sheet, and those with the same header, as comma-separated text with its line numbers.

    Titles above the header become blank lines. CorpusError: the file is damaged, protected, or unpacks to too much.
    """
    try:
        return run(_CHILD, _read, path)
    except LimitError as error:
        raise CorpusError(f"{path}: file: {error}") from error


def _read(path: Path) -> str:
    from python_calamine import CalamineError, CalamineWorkbook

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
                problem = f"unpacks to more than {MAX_UNPACKED_BYTES // 1024**2} MiB"
                raise CorpusError(f"{path}: file: {problem}; save the sheet as CSV")
    try:
        with CalamineWorkbook.from_path(path) as book:
            sheets = [book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names]
    except (CalamineError, ValueError) as error:
        raise CorpusError(f"{path}: file: is a spreadsheet that cannot be read; save the sheet as CSV") from error
    tables = [_with_one_header(sheet) for sheet in sheets]
    largest = max(tables, key=lambda rows: sum(map(n_filled, rows)), default=[])
    header = next((row for row in largest if n_filled(row)), [])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for rows in (largest, *(table for table in tables if table is not largest and header in table[:MAX_ROWS_ABOVE])):
        for row in rows if rows is largest else rows[rows.index(header) + 1 :]:
            writer.writerow([_text_of(cell) for cell in row] if n_filled(row) else [])
    return text.getvalue()


def _with_one_header(rows: Rows) -> Rows:
    """Return the rows with blank ones for what is above the header; a header of two rows is one."""
    at = header_index(rows)
    at -= at > 0 and _is_second_header(rows[at - 1], rows[at])
    table: Rows = [[] for _ in rows[:at]] + [list(row) for row in rows[at:]]
    if len(table) > at + 2 and _is_second_header(table[at], table[at + 1]):
        table[at], table[at + 1] = _joined_names(table[at], table[at + 1]), []
    return table


def _joined_names(high: Sequence[Any], low: Sequence[Any]) -> list[str]:
    """Return the names of the second row, each behind the name of the first row that spans it and others."""
    names, above = [], ""
    for index, (name, lower) in enumerate(zip(high, low, strict=False)):
        above = name or above
        spans = not name or (index + 1 < len(high) and not high[index + 1])
        names.append(f"{above} {lower}".strip() if lower and spans else lower or name)
    return names


def _is_second_header(high: Sequence[Any], low: Sequence[Any]) -> bool:
    """Report whether the second row names the columns that merged cells of the first one span."""
    below_blank = [cell for above, cell in zip(high, low, strict=False) if not above and cell]
    is_text = all(isinstance(cell, str) for cell in low)
    has_blank = any(above and not cell for above, cell in zip(high, low, strict=False))
    return is_text and has_blank and len(below_blank) > 0


def _text_of(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, float) and abs(cell) >= _EXACT:
        return f"{cell:.5E}"
    if isinstance(cell, timedelta):
        return str(cell)
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)
