"""JSON whose every complaint has a line: top-level records come with the line on which they start.

Python's parser says where a file breaks but not where a record stood; here the outermost object or list is walked
member by member, each member parsed by the C scanner.
"""

import json
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # there, though no stub names it
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from corpus.errors import CorpusError

_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()
MEND = "mend the file there, or get a whole copy of it"


class Member(NamedTuple):
    """One top-level record: its key in the object (None in a list), its value, the line it starts on."""

    key: str | None
    value: Any
    line: int


def read_text(path: Path) -> str:
    """The file as text; a byte order mark is dropped. CorpusError: missing, unreadable, empty, not UTF-8."""
    if not path.exists():
        raise CorpusError(f"{path}: file: there is no such file; check the path")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: file: cannot be read ({error.strerror}); give a readable file") from error
    if not data.strip():
        raise CorpusError(f"{path}:1: file: is empty; get a whole copy of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise CorpusError(f"{path}:{line}: encoding: {problem}; save the file as UTF-8") from error


def lines(text: str) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank. Only a line feed ends a line: JSON text may hold U+2028."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def parse_line(line: str) -> Any:
    """The value of one JSON line. ValueError with a short reason when it has none."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def members(path: Path, text: str) -> Iterator[Member]:
    """The records of `{"key": {…}, …}` or `[{…}, …]`. CorpusError, with its line, where the file is not such JSON."""
    position = _skip(text, 0)
    opening = text[position : position + 1]
    if opening not in {"{", "["}:
        _fail(path, text, position, "is neither an object nor a list of records")
    closing = "}" if opening == "{" else "]"
    position = _skip(text, position + 1)
    line, counted, first = 1, 0, True
    while text[position : position + 1] != closing:
        if not first:
            _expect(path, text, position, ",")
            position = _skip(text, position + 1)
        line += text.count("\n", counted, position)
        counted = position
        key = None
        if opening == "{":
            key, position = _key(path, text, position)
        value, position = _value(path, text, position)
        yield Member(key, value, line)
        first = False
    end = _skip(text, position + 1)
    if end < len(text):
        _fail(path, text, end, "goes on after its end")


def _key(path: Path, text: str, position: int) -> tuple[str, int]:
    _expect(path, text, position, '"')
    try:
        key, position = scanstring(text, position + 1)
    except json.JSONDecodeError as error:
        _fail(path, text, error.pos, error.msg)
    position = _skip(text, position)
    _expect(path, text, position, ":")
    return key, _skip(text, position + 1)


def _value(path: Path, text: str, position: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        _fail(path, text, error.pos, error.msg)
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        _fail(path, text, position, f"cannot be parsed ({error})")
    return value, _skip(text, end)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _expect(path: Path, text: str, position: int, what: str) -> None:
    if text[position : position + 1] != what:
        _fail(path, text, position, f"'{what}' is expected here")


def _fail(path: Path, text: str, position: int, problem: str) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise CorpusError(f"{path}:{line}: JSON: {problem}, column {column}; {MEND}")
