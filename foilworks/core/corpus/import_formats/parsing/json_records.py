"""Read JSON with a line for every error and record.

Python's parser says where a file breaks but not where a record was; here the outermost object or list is walked member
by member, each member parsed by the C scanner.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]  # there, though no stub names it
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.text_lines import checked_file, not_utf8
from foilworks.core.text.quoting import quoted

_SPACE = " \t\n\r"


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members. ValueError where a name is twice, of which the last would silently count."""
    members_by_name = dict(pairs)
    if len(members_by_name) < len(pairs):
        names = [name for name, _value in pairs]
        repeated_name = next(name for index, name in enumerate(names) if name in names[:index])
        raise ValueError(f"has the field {quoted(repeated_name)} twice; keep one of them")
    return members_by_name


_DECODER = json.JSONDecoder(object_pairs_hook=unique_names)
# An object with more lists has them by id.
_FEW_LISTS = 8
MEND = "fix the file there, or get a complete copy"


class Member(NamedTuple):
    """One top-level record: its key in the object (None in a list), its value, the line it starts on."""

    key: str | None
    value: Any
    line: int


def read_text(path: Path) -> str:
    """The file as text; a byte order mark is dropped. CorpusError: missing, unreadable, empty, not UTF-8."""
    with checked_file(path) as file:
        data = file.read()
    if not data.strip():
        raise CorpusError(f"{path}:1: file: is empty; get a whole copy of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise not_utf8(path, line, data[error.start]) from error


def parse_line(line: str) -> Any:
    """The value of one JSON line. ValueError with a short reason when it has none."""
    try:
        return _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def members(path: Path, text: str) -> Iterator[Member]:
    """The records of `{"key": {…}, …}` or `[{…}, …]`. CorpusError, with its line, where the file is not such JSON."""
    walk = _Walk(path, text, _skip(text, 0))
    yield from walk.values()
    walk.end()


def members_of(path: Path, text: str, *names: str) -> Iterator[Member]:
    """The records of the lists that the outermost object holds under these names, one list after the other as the file
    has them; each key is its list's name. CorpusError, with its line: no such JSON, or one of the names is missing."""
    start = _skip(text, 0)
    if text[start : start + 1] != "{":
        _fail(path, text, start, f"is not an object with the lists {', '.join(names)}")
    walk, missing = _Walk(path, text, start), list(names)
    for key in walk.member_keys():
        if key not in missing:
            walk.pass_over()
            continue
        missing.remove(key)
        if text[walk.position : walk.position + 1] != "[":
            _fail(path, text, walk.position, f"{key} is not a list")
        inner = _Walk(path, text, walk.position)
        yield from (member._replace(key=key) for member in inner.values())
        walk.position = inner.position
    walk.end()
    if missing:
        _fail(path, text, start, f"has no list {missing[0]}")


def members_at(path: Path, text: str, names: str) -> Iterator[Member]:
    """The records of the list or object that the dotted path `names` leads to; of the whole file if it is empty.

    CorpusError, with its line: no such JSON, or nothing there.
    """
    position = _skip(text, 0)
    for name in filter(None, names.split(".")):
        position = _value_of(path, text, position, name)
    yield from _Walk(path, text, position).values()


def member_paths(path: Path, text: str) -> list[str]:
    """Dotted paths, one level deep, of what may hold the records, that with most records first; "" for a list."""
    start = _skip(text, 0)
    if text[start : start + 1] != "{":
        return [""]
    sizes: dict[str, int] = {}
    for member in members(path, text):
        if isinstance(member.value, dict | list) and any(isinstance(entry, dict | list) for entry in _values(member)):
            sizes[member.key or ""] = len(member.value)
    shapes = {_shape(member) for member in islice(members(path, text), 3)}
    is_map = len(sizes) > _FEW_LISTS or (len(sizes) > 1 and len(shapes) == 1 and None not in shapes)
    if not sizes or is_map:
        return [""]
    return sorted(sizes, key=lambda name: -sizes[name])


def _values(member: Member) -> Iterable[Any]:
    return member.value.values() if isinstance(member.value, dict) else member.value


def _shape(member: Member) -> tuple[str, ...] | None:
    """The names of a record's fields, which the records of an object by id share; None for a list."""
    return tuple(sorted(member.value)) if isinstance(member.value, dict) else None


def _value_of(path: Path, text: str, position: int, name: str) -> int:
    """The position of the member's value."""
    if text[position : position + 1] != "{":
        _fail(path, text, position, f"is not an object with the field {name}")
    walk = _Walk(path, text, position)
    for key in walk.member_keys():
        if key == name:
            break
        walk.pass_over()
    else:
        _fail(path, text, position, f"has no field {name}")
    return walk.position


class _Walk:
    """Walks over the members of the object or list that starts at `position`; after its last one, `position` is
    behind it."""

    def __init__(self, path: Path, text: str, position: int):
        self.path, self.text, self.position = path, text, position
        self.opening = text[position : position + 1]
        if self.opening not in {"{", "["}:
            _fail(path, text, position, "is neither an object nor a list of records")

    def member_keys(self) -> Iterator[str | None]:
        """Each member's key (None in a list), with `position` at its value; the caller moves it behind the value."""
        closing = "}" if self.opening == "{" else "]"
        self.position, first = _skip(self.text, self.position + 1), True
        while self.text[self.position : self.position + 1] != closing:
            if not first:
                _expect(self.path, self.text, self.position, ",")
                self.position = _skip(self.text, self.position + 1)
            key, first = None, False
            if self.opening == "{":
                key, self.position = _key(self.path, self.text, self.position)
            yield key
        self.position = _skip(self.text, self.position + 1)

    def values(self) -> Iterator[Member]:
        """Each member with its value and the line on which it starts."""
        line, counted_position = self.text.count("\n", 0, self.position) + 1, self.position
        for key in self.member_keys():
            line += self.text.count("\n", counted_position, self.position)
            counted_position = self.position
            value, self.position = _value(self.path, self.text, self.position)
            yield Member(key, value, line)

    def pass_over(self) -> None:
        self.position = _value(self.path, self.text, self.position)[1]

    def end(self) -> None:
        """CorpusError where the text goes on."""
        if self.position < len(self.text):
            _fail(self.path, self.text, self.position, "goes on after its end")


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


def _expect(path: Path, text: str, position: int, character: str) -> None:
    if text[position : position + 1] != character:
        _fail(path, text, position, f"'{character}' is expected here")


def _fail(path: Path, text: str, position: int, problem: str) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise CorpusError(f"{path}:{line}: JSON: {problem}, column {column}; {MEND}")
