"""Read JSON and JSON-lines files, with the path, line and field in every error.

So a bad number is easy to find in an editor. The reader is the one of `foilworks import`.
"""

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing import text_lines
from foilworks.core.corpus.import_formats.parsing.json_records import members, parse_line, read_text
from foilworks.core.text.quoting import quoted, shortened
from foilworks.core.text.storable import plain_cell


def fail(path: Path, line: int | None, field: str, problem: str, fix: str) -> NoReturn:
    """Raise the error of a bad file: `PATH:LINE: FIELD: what is wrong; what to do`."""
    where = f"{path}:{line}" if line is not None else str(path)
    raise EvaluationError(f"{where}: {shortened(field)}: {problem}; {fix}")


@dataclass(slots=True)
class Row:
    """One record of a file: its line, its name (the key of an object's member), its fields.

    `is_text`: the fields are cells of CSV. `called`: the file's names of fields that have a different name here.
    """

    path: Path
    line: int
    fields: Mapping[str, Any]
    key: str = ""
    is_text: bool = False
    called: Mapping[str, str] | None = None

    def fail(self, field: str, problem: str, fix: str) -> NoReturn:
        field = (self.called or {}).get(field, field)
        fail(self.path, self.line, f"{self.key}.{field}" if self.key else field, problem, fix)

    def text(self, field: str, default: str | None = None) -> str:
        """Return a string (digits of a whole number); `default` if absent or empty, else the record is bad."""
        value = self.fields.get(field)
        if type(value) is str and value and not self.is_text and not value.isspace():
            return value
        if default is not None and value in (None, ""):
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            self.fail(field, "is missing" if value is None else "is not text", "give a non-empty text")
        return plain_cell(value.strip()) if self.is_text else value

    def new_name(self, field: str, seen: dict[str, int]) -> str:
        """Return the record's key or the text of a field, and note its line in `seen`; the record is bad if it occurs
        twice.
        """
        name = self.key or self.text(field)
        if name in seen:
            self.fail(
                field, f"{quoted(name)} occurs twice in the file (first in line {seen[name]})", "keep one of them"
            )
        seen[name] = self.line
        return name

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a non-empty list of non-empty strings; one string counts as a list of one."""
        value = self.fields.get(field)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values:
            self.fail(field, "is missing or empty", "give a list with at least one text")
        for index, text in enumerate(values):
            if not isinstance(text, str) or not text.strip():
                self.fail(f"{field}[{index}]", "is not text", "give a non-empty text")
        return tuple(values)

    def number(self, field: str) -> float:
        """Return a finite number, else the record is bad."""
        return self._finite(field, self.fields.get(field))

    def numbers(self, field: str) -> list[float]:
        """Return a non-empty list of finite numbers; one number counts as a list of one."""
        value = self.fields.get(field)
        values = value if isinstance(value, list) else [value]
        if value is None or not values:
            self.fail(field, "is missing or empty", "give a list with at least one number")
        return [self._finite(f"{field}[{index}]", number) for index, number in enumerate(values)]

    def whole(self, field: str, default: int) -> int:
        """Return a whole number from 0 up; `default` if absent."""
        value = self.fields.get(field, default)
        if self.is_text and isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.fail(field, f"is {quoted(value)}", "give a whole number from 0 up")
        return value

    def inner(self, field: str) -> "Row | None":
        """Return the record inside this one, or None if absent."""
        value = self.fields.get(field)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(field, "is not an object", "give an object with its own fields")
        return Row(self.path, self.line, value, f"{self.key}.{field}" if self.key else field)

    def _finite(self, field: str, value: Any) -> float:
        if self.is_text and isinstance(value, str):
            value = number_of(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(field, "is missing" if value is None else f"is {quoted(value)}", "give a finite number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(field, f"is {number}", "give a finite number")
        return number


def rows(path: Path) -> Iterator[Row]:
    """Read records of a JSON-lines file, or of one JSON object or list (`.json`), in file order.

    CorpusError or EvaluationError, with the line: a bad file, or a member that occurs twice, of which a parser would
    silently use the last.
    """
    if _is_one_document(path):
        yield from _members(path, read_text(path))
        return
    for line, text in _lines(path):
        try:
            # The parser of the API takes a quarter of the time of json.loads, which has the better error messages.
            value = from_json(text)
        except ValueError:
            value = None
        # As many colons as members: nothing is nested, and no name occurs twice.
        if type(value) is not dict or text.count(":") != len(value):
            value = _object(path, line, "record", _record(path, line, text))
        yield Row(path, line, value)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of every line that is not blank; text_lines.lines reports a file without any."""
    blank = True
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, text in enumerate(file, start=1):
                if text := text.strip():
                    blank = False
                    yield number, text
    except (OSError, UnicodeDecodeError):
        blank = True
    if blank:
        deque(text_lines.lines(path), maxlen=0)


def _record(path: Path, line: int, text: str) -> Any:
    try:
        return parse_line(text)
    except ValueError as error:
        fail(path, line, "JSON", str(error), "fix the line")


def _members(path: Path, text: str) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for member in members(path, text):
        key = member.key or ""
        if key and key in seen:
            fail(path, member.line, key, f"occurs twice in the file (first in line {seen[key]})", "keep one of them")
        seen[key] = member.line
        yield Row(path, member.line, _object(path, member.line, key or "record", member.value), key)


def _is_one_document(path: Path) -> bool:
    """Report whether a `.json` file is one document; JSON lines have a complete first line, and more lines."""
    if path.suffix in {".jsonl", ".ndjson"}:
        return False
    lines = _lines(path)
    first, more = next(lines, (0, ""))[1], next(lines, None)
    if path.suffix != ".json" and not more:
        return False
    try:
        return not isinstance(json.loads(first), dict) or not more
    except (ValueError, RecursionError):
        return True


def number_of(cell: str) -> Any:
    """Return the number in a cell, else the cell."""
    try:
        return cell if "_" in cell else int(cell) if cell.strip().isdecimal() else float(cell)
    except ValueError:
        return cell


def _object(path: Path, line: int, field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        fail(path, line, field, "is not a JSON object", "give an object with its own fields")
    return value
