"""Read the rows of a spreadsheet with one sheet (.xlsx), as VLMEvalKit writes its predictions."""

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.parsers import expat

from evaluation.score_files.csv_source import CsvSource, Line
from evaluation.score_files.json_records import fail

SHEET = ".xlsx"
STRINGS, SHEETS = "xl/sharedStrings.xml", re.compile(r"xl/worksheets/[^/]+\.xml")
MAX_MEMBER = 256 * 1024 * 1024
FIX = "save the sheet as CSV"
Start = Callable[[str, dict[str, str]], None]


class SheetSource(CsvSource):
    """The cells of the only sheet as texts. EvaluationError: no such file, no row, several sheets, too large."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = list(_Sheet(path).rows())
        if not self._rows:
            fail(path, None, "record", "there is none", "give a header and at least one row")
        self.header_line, self.names = self._rows.pop(0)

    def rows(self) -> Iterator[Line]:
        """Return (line, cells) of the rows below the header, with a cell per column."""
        for line, cells in self._rows:
            yield line, [*cells, *[""] * (len(self.names) - len(cells))]


class _Sheet:
    """The XML of a spreadsheet. A document type is refused: it can hold entities that grow without bound."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: list[str] = []
        self._lines: list[Line] = []
        self._text: list[str] | None = None
        self._value, self._kind, self._column = "", "", 0

    def rows(self) -> Iterator[Line]:
        """Return (line, cells) of the rows that contain text."""
        try:
            with zipfile.ZipFile(self._path) as archive:
                sheets = [name for name in archive.namelist() if SHEETS.fullmatch(name)]
                if len(sheets) != 1:
                    fail(self._path, None, "file", f"has {len(sheets)} sheets", FIX)
                if STRINGS in archive.namelist():
                    self._parse(archive, STRINGS, self._start_string, self._end_string)
                self._parse(archive, sheets[0], self._start_cell, self._end_cell)
        except (OSError, ValueError, IndexError, zipfile.BadZipFile, expat.ExpatError) as error:
            fail(self._path, None, "file", f"is not a readable spreadsheet ({error})", FIX)
        return ((line, cells) for line, cells in self._lines if any(map(str.strip, cells)))

    def _parse(self, archive: zipfile.ZipFile, name: str, start: Start, end: Callable[[str], None]) -> None:
        if archive.getinfo(name).file_size > MAX_MEMBER:
            raise ValueError(f"{name} has more than {MAX_MEMBER:,} bytes")
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._add_text, _refuse
        parser.Parse(archive.read(name), True)

    def _add_text(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _start_string(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "si":
            self._value = ""
        self._text = [] if tag == "t" else None

    def _end_string(self, tag: str) -> None:
        if tag == "t":
            self._value += "".join(self._text or ())
            self._text = None
        elif tag == "si":
            self._texts.append(self._value)

    def _start_cell(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            self._lines.append((int(attributes.get("r", len(self._lines) + 1)), []))
        elif tag == "c":
            self._value, self._kind = "", attributes.get("t", "n")
            self._column = _column_of(attributes.get("r", ""), len(self._lines[-1][1]))
        self._text = [] if tag in {"v", "t"} else None

    def _end_cell(self, tag: str) -> None:
        if tag in {"v", "t"}:
            self._value += "".join(self._text or ())
            self._text = None
        elif tag == "c":
            cells = self._lines[-1][1]
            cells += [""] * (self._column - len(cells))
            cells.append(self._texts[int(self._value)] if self._kind == "s" and self._value else self._value)


MAX_COLUMNS = 16_384


def _column_of(reference: str, following: int) -> int:
    """Return the place of a cell such as C12 in its row, from 0; cells without a reference follow each other."""
    column = 0
    for letter in reference.rstrip("0123456789"):
        column = 26 * column + ord(letter) - ord("A") + 1
    if column > MAX_COLUMNS:
        raise ValueError(f"{reference[:20]} is no cell")
    return column - 1 if column else following


def _refuse(*_declaration: object) -> None:
    raise ValueError("it has a document type")
