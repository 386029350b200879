"""Find values in a row of any table: by column, inside nested values by dotted names, one record per list entry. Pure.

`segment.0` is the first entry of a list, `info.title` a field of an object, `choices.*.choice` that field of every
entry, `times.@place` the entry beside the one of an exploded list. A cell that holds JSON, or a list as Python prints
it, counts as a nested value.
"""

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.text.quoting import quoted

KEY, VALUE, PLACE = "@key", "@value", "@place"
# What a row is called: its key in an object, else its number in the file from 0; the subtest of its record; its text in
# the file of a lookup.
NAME, SUBTEST, TEXT = "@name", "@subtest", "@text"
MADE_COLUMNS = frozenset({KEY, VALUE, PLACE, NAME, SUBTEST, TEXT})
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_CLOCK = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2}(?:\.[0-9]{1,12})?)")
# Python's parser of literals needs far more memory than the text has characters.
_MAX_LITERAL = 20_000
Row = Mapping[str, Any]


def value_at(row: Row, name: str) -> Any:
    """The value of a column, or a value inside one; None if there is none. A column with dots in its name comes
    first."""
    if name in row:
        return row[name]
    steps = [str(row.get(PLACE)) if step == PLACE else step for step in name.split(".")]
    for n_steps in range(len(steps) - 1, 0, -1):
        column = ".".join(steps[:n_steps])
        if column in row:
            return _inside(nested(row[column]), steps[n_steps:])
    return None


def column_of(name: str, columns: Row | set[str]) -> str | None:
    """The column that a dotted name is in, or None."""
    if name in columns:
        return name
    steps = name.split(".")
    prefixes = (".".join(steps[:n_steps]) for n_steps in range(len(steps), 0, -1))
    return next((column for column in prefixes if column in columns), None)


def _inside(value: Any, steps: list[str]) -> Any:
    for index, step in enumerate(steps):
        if step == "*":
            entries = list(value.values()) if isinstance(value, Mapping) else value
            if not isinstance(entries, list):
                return None
            inner_steps = steps[index + 1 :]
            return [_inside(entry, inner_steps) for entry in entries]
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def nested(value: Any) -> Any:
    """A cell of text as the list or object that it says; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in {"[", "{", "("}:
        return value
    try:
        return parse_line(value)
    except ValueError:
        pass
    if len(value) > _MAX_LITERAL:
        return value
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
    return list(literal) if isinstance(literal, tuple) else literal if isinstance(literal, list | dict) else value


def exploded(row: Row, name: str, separator: str = "", part_separator: str = "") -> Iterator[dict[str, Any]]:
    """The row once for each entry of a list: the column is then the entry, PLACE its number or its key.

    `separator`: ends an entry of a cell of text. `part_separator`: separates the parts of such an entry.
    """
    value = nested(value_at(row, name))
    if isinstance(value, str) and separator:
        entries = [entry.strip() for entry in value.split(separator)]
        value = [
            entry.split(None if part_separator == " " else part_separator) if part_separator else entry
            for entry in entries
            if entry
        ]
    if isinstance(value, Mapping):
        numbered_entries = list(value.items())
    elif isinstance(value, list):
        numbered_entries = list(enumerate(value))
    elif value is None or value == "":
        return
    else:
        raise ProblemError(name, f"{quoted(value)} is not a list", "explode a column of lists, or give a separator")
    for number, entry in numbered_entries:
        yield {**row, name: entry, PLACE: number}


def unfolded(row: Row, name: str) -> Iterator[dict[str, Any]]:
    """The row once for each object in a list, with the fields of the object; a row without the list as it is."""
    entries = row.get(name)
    for number, entry in enumerate(entries if isinstance(entries, list) else [{}]):
        if not isinstance(entry, Mapping):
            raise ProblemError(f"{name}.{number}", "is not an object", "give an object with named fields")
        yield {**row, **entry}


def as_text(name: str, value: Any) -> str:
    """A text or number as text. ProblemError: a list or an object."""
    match value:
        case str():
            return value
        case bool() | int():
            return str(value).lower() if isinstance(value, bool) else str(value)
        case float() if math.isfinite(value):
            return f"{value:.15g}"
        case list() | dict():
            kind, entry = ("a list", "0") if isinstance(value, list) else ("an object", "name")
            raise ProblemError(name, f"is {kind}", f"choose one of its values, such as {name}.{entry}")
    raise ProblemError(name, f"is {value}", "give text or a number")


def as_number(value: Any) -> float | None:
    """A number, or a text that is one; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 2**1000 else None
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def as_seconds(name: str, value: Any) -> Any:
    """A time as a number: also from texts such as `12.5` and `00:01:02.5`. ProblemError: any other text."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        return value
    number, clock = as_number(value), _CLOCK.fullmatch(value.strip())
    if number is not None:
        return number
    if clock is None:
        raise ProblemError(
            name, f"{quoted(value)} is not a time", "give seconds with a point, such as 1.5, or hours:minutes:seconds"
        )
    return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])


def plain_cell(value: Any) -> Any:
    """A cell as a fact: a text that reads as a number is a number."""
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?", value):
        return json.loads(value)
    return value
