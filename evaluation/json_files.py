"""JSON and JSON-lines files whose every complaint names path, line and field.

Python's parser forgets where a member stood; here a large object is walked member by member, so that the record with
a bad number can be found again in an editor.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json.decoder import scanstring
from pathlib import Path
from typing import Any, NoReturn

from evaluation.errors import EvaluationError

SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()


def fail(path: Path, line: int | None, field: str, problem: str, fix: str) -> NoReturn:
    """Raise the one message that bad files get: `PATH:LINE: FIELD: what is wrong; what to do`."""
    where = f"{path}:{line}" if line is not None else str(path)
    raise EvaluationError(f"{where}: {field}: {problem}; {fix}")


@dataclass(frozen=True)
class Row:
    """One record of a file: where it stands, its name (the key of an object's member), its fields."""

    path: Path
    line: int
    fields: Mapping[str, Any]
    key: str = ""

    def fail(self, field: str, problem: str, fix: str) -> NoReturn:
        fail(self.path, self.line, f"{self.key}.{field}" if self.key else field, problem, fix)

    def text(self, field: str, default: str | None = None) -> str:
        """A string (a whole number is taken as its digits); `default` when absent, else the record is bad."""
        value = self.fields.get(field)
        if value is None and default is not None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            self.fail(field, "is missing" if value is None else "is no text", "give a non-empty text")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """A non-empty list of non-empty strings; one string counts as a list of one."""
        value = self.fields.get(field)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values:
            self.fail(field, "is missing or empty", "give a list with at least one text")
        for place, text in enumerate(values):
            if not isinstance(text, str) or not text.strip():
                self.fail(f"{field}[{place}]", "is no text", "give a non-empty text")
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

    def count(self, field: str, default: int) -> int:
        """A whole number from 0 up; `default` when absent."""
        value = self.fields.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.fail(field, f"is {value!r}", "give a whole number from 0 up")
        return value

    def inner(self, field: str) -> "Row | None":
        """The record inside this one, or None when absent."""
        value = self.fields.get(field)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(field, "is no object", "give an object with its own fields")
        return Row(self.path, self.line, value, f"{self.key}.{field}" if self.key else field)

    def _finite(self, field: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(field, "is missing" if value is None else f"is {value!r}", "give a finite number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(field, f"is {number}", "give a finite number")
        return number


def read_text(path: Path) -> str:
    """The file as UTF-8 (a byte order mark is dropped); EvaluationError when it cannot be read or is no UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        fail(path, None, "file", f"cannot be read ({error.strerror})", "check the path and its permissions")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fail(path, data.count(b"\n", 0, error.start) + 1, "encoding", "is not UTF-8", "save the file as UTF-8")


def rows(path: Path) -> Iterator[Row]:
    """Records of a JSON-lines file, or the members of one JSON object (`.json`), in file order."""
    text = read_text(path)
    if _is_one_object(path, text):
        yield from _members(path, text)
        return
    for line, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            yield Row(path, line, _object(path, line, row))


def _is_one_object(path: Path, text: str) -> bool:
    if path.suffix in {".jsonl", ".ndjson"}:
        return False
    first, _, rest = text.lstrip().partition("\n")
    if path.suffix != ".json" and not rest.strip():
        return False
    try:
        return not isinstance(json.loads(first), dict) or not rest.strip()
    except (ValueError, RecursionError):
        return True


def _object(path: Path, line: int, text: str) -> dict[str, Any]:
    value = _parsed(path, text, line)
    if not isinstance(value, dict):
        fail(path, line, "record", "is no JSON object", "write one object a line")
    return value


def _parsed(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        fail(path, line + error.lineno - 1, "JSON", f"{error.msg} at column {error.colno}", "mend the file")
    except RecursionError:
        fail(path, line, "JSON", "is nested too deeply", "mend the file")


def _members(path: Path, text: str) -> Iterator[Row]:
    """Walk `{"key": {...}, ...}`; a repeated key is an error, since a parser would silently keep the last."""
    position = _skip(text, 0)
    _expect(path, text, position, "{")
    position = _skip(text, position + 1)
    line, counted, more = 1, 0, text[position : position + 1] != "}"
    seen: dict[str, int] = {}
    while more:
        line += text.count("\n", counted, position)
        counted = position
        key, value, position = _member(path, text, position, line)
        if key in seen:
            fail(path, line, key, f"stands in the file twice (first in line {seen[key]})", "keep one of them")
        seen[key] = line
        if not isinstance(value, dict):
            fail(path, line, key, "is no JSON object", "give an object with its own fields")
        yield Row(path, line, value, key)
        more = text[position : position + 1] != "}"
        if more:
            _expect(path, text, position, ",")
            position = _skip(text, position + 1)
    if _skip(text, position + 1) != len(text):
        line = text.count("\n", 0, position) + 1
        fail(path, line, "JSON", "has more after its end", "give one JSON object, or name the file .jsonl")


def _member(path: Path, text: str, position: int, line: int) -> tuple[str, Any, int]:
    """Key, value and the position of what follows them."""
    _expect(path, text, position, '"')
    try:
        key, position = scanstring(text, position + 1)
        position = _skip(text, position)
        _expect(path, text, position, ":")
        value, position = _DECODER.raw_decode(text, _skip(text, position + 1))
    except json.JSONDecodeError as error:
        fail(path, error.lineno, "JSON", f"{error.msg} at column {error.colno}", "mend the file")
    except RecursionError:
        fail(path, line, "JSON", "is nested too deeply", "mend the file")
    return key, value, _skip(text, position)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in SPACE:
        position += 1
    return position


def _expect(path: Path, text: str, position: int, what: str) -> None:
    if text[position : position + 1] != what:
        error = json.JSONDecodeError(f"Expecting '{what}'", text, position)
        fail(path, error.lineno, "JSON", f"{error.msg} at column {error.colno}", "mend the file")
