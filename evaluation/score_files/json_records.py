"""JSON and JSON-lines files whose every complaint names path, line and field.

A bad number can then be found again in an editor. Files are walked by the same reader as in `foilworks import`.
"""

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from corpus.importers.parsing import text_lines
from corpus.importers.parsing.json_records import members, parse_line, read_text
from evaluation.errors import EvaluationError
from text.quoting import quoted, shortened
from text.storable import plain_cell


def fail(path: Path, line: int | None, field: str, problem: str, fix: str) -> NoReturn:
    """Raise the one message that bad files get: `PATH:LINE: FIELD: what is wrong; what to do`."""
    where = f"{path}:{line}" if line is not None else str(path)
    raise EvaluationError(f"{where}: {shortened(field)}: {problem}; {fix}")


@dataclass(slots=True)
class Row:
    """One record of a file: its line, its name (the key of an object's member), its fields.

    `is_text`: they are cells of CSV. `called`: what the file calls those that have another name here.
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
        """A string (a whole number is taken as its digits); `default` when absent or empty, else the record is bad."""
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
        """The record's key or the text of a field, noted in `seen` with its line; twice, the record is bad."""
        name = self.key or self.text(field)
        if name in seen:
            self.fail(
                field, f"{quoted(name)} stands in the file twice (first in line {seen[name]})", "keep one of them"
            )
        seen[name] = self.line
        return name

    def texts(self, field: str) -> tuple[str, ...]:
        """A non-empty list of non-empty strings; one string counts as a list of one."""
        value = self.fields.get(field)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values:
            self.fail(field, "is missing or empty", "give a list with at least one text")
        for place, text in enumerate(values):
            if not isinstance(text, str) or not text.strip():
                self.fail(f"{field}[{place}]", "is not text", "give a non-empty text")
        return tuple(values)

    def number(self, field: str) -> float:
        """A finite number, else the record is bad."""
        return self._finite(field, self.fields.get(field))

    def numbers(self, field: str) -> list[float]:
        """A non-empty list of finite numbers; one number counts as a list of one."""
        value = self.fields.get(field)
        values = value if isinstance(value, list) else [value]
        if value is None or not values:
            self.fail(field, "is missing or empty", "give a list with at least one number")
        return [self._finite(f"{field}[{place}]", each) for place, each in enumerate(values)]

    def whole(self, field: str, default: int) -> int:
        """A whole number from 0 up; `default` when absent."""
        value = self.fields.get(field, default)
        if self.is_text and isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.fail(field, f"is {quoted(value)}", "give a whole number from 0 up")
        return value

    def inner(self, field: str) -> "Row | None":
        """The record inside this one, or None when absent."""
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
    """Records of a JSON-lines file, or of one JSON object or list (`.json`), in file order.

    CorpusError or EvaluationError, with the line, for what is no such file, and for a member that stands there twice,
    of which a parser would silently keep the last.
    """
    if _is_one_document(path):
        yield from _members(path, read_text(path))
        return
    for line, text in _lines(path):
        try:
            # The parser that the API has: a quarter of the time of json.loads, which says what is wrong.
            value = from_json(text)
        except ValueError:
            value = None
        # As many colons as members: nothing is nested, and no name is there twice.
        if type(value) is not dict or text.count(":") != len(value):
            value = _object(path, line, "record", _record(path, line, text))
        yield Row(path, line, value)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank, as text_lines.lines, which says what is wrong with a file
    that has none."""
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
            fail(path, member.line, key, f"stands in the file twice (first in line {seen[key]})", "keep one of them")
        seen[key] = member.line
        yield Row(path, member.line, _object(path, member.line, key or "record", member.value), key)


def _is_one_document(path: Path) -> bool:
    """A `.json` may hold JSON lines all the same: its first line is then whole, and more follows."""
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
    """The number of a cell, else the cell."""
    try:
        return cell if "_" in cell else int(cell) if cell.strip().isdecimal() else float(cell)
    except ValueError:
        return cell


def _object(path: Path, line: int, field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        fail(path, line, field, "is not a JSON object", "give an object with its own fields")
    return value
