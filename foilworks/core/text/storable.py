"""Make text and JSON safe for every database, and cells safe for spreadsheets. Pure.

PostgreSQL does not store NUL, and half of a surrogate pair is not UTF-8.
"""

import math
import re
from collections.abc import Iterable
from typing import Any

HALF = re.compile(r"[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def storable(text: str) -> str:
    """Return the text for any database: half surrogate pairs become “?”, other control characters are removed."""
    without_halves = text.encode("utf-8", "replace").decode("utf-8") if HALF.search(text) else text
    return _CONTROLS.sub("", without_halves)


def is_storable(value: Any) -> bool:
    """Return whether a JSON value of any depth is free of NUL, half surrogate pairs, infinity and NaN."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                waiting += [*fields, *fields.values()]
            case list() | tuple() as several:
                waiting += several
            case str() as text if "\x00" in text or HALF.search(text):
                return False
            case float() as number if not math.isfinite(number):
                return False
    return True


# A spreadsheet runs a cell that starts with one of these, or their full-width forms, also after line ends or tabs.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_RUN = re.compile(rf"'*[{_SIGNS}\t\r\n]")
# With another separator, or without support for the quotes, a spreadsheet starts a cell here.
_RUN_WITHIN = re.compile(rf"([;\t\r\n][ \"]*)('*)(?=[{_SIGNS}])")


def is_run(text: str) -> bool:
    """Return whether a spreadsheet would run the text, or a part of it, as a formula."""
    return bool(_RUN.match(text) or _RUN_WITHIN.search(text))


def mark(text: str) -> str:
    """Put an apostrophe before the text, and before each formula within it, so that it stays text."""
    return "'" + _RUN_WITHIN.sub(r"\1'\2", text)


def unmark(cell: str) -> str:
    """Undo `mark`: unmark(mark(x)) == x for every x."""
    return _RUN_WITHIN.sub(lambda match: match[1] + match[2][1:], cell.removeprefix("'"))


def safe_cell(text: str) -> str:
    """Mark text that a spreadsheet would run; `plain_cell` removes the marks."""
    return mark(text) if is_run(text) else text


def plain_cell(cell: str) -> str:
    """Undo `safe_cell`: plain_cell(safe_cell(x)) == x for every x."""
    is_marked = cell.startswith("'") and is_run(cell) and all(match[2] for match in _RUN_WITHIN.finditer(cell))
    return unmark(cell) if is_marked else cell


def safe_row(values: Iterable[Any]) -> list[Any]:
    """Mark text that a spreadsheet would run. Numbers stay numbers, None is an empty cell."""
    return [safe_cell(value) if isinstance(value, str) else value for value in values]
