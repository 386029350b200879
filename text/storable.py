"""Text and JSON that every database takes, and cells that a spreadsheet opens without running them. Pure.

PostgreSQL holds no NUL, and half of a character pair is no UTF-8.
"""

import math
import re
from collections.abc import Iterable
from typing import Any

HALF = re.compile(r"[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def storable(text: str) -> str:
    """The text as any database keeps it: half characters become “?”, control characters go, line ends and tabs stay."""
    whole = text.encode("utf-8", "replace").decode("utf-8") if HALF.search(text) else text
    return _CONTROLS.sub("", whole)


def is_storable(value: Any) -> bool:
    """Whether a value of JSON, however deep, holds no NUL, no half of a character pair, no infinity and no NaN."""
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


# A spreadsheet takes text that starts so for a formula. An apostrophe before it says that it is text.
_RUN = re.compile(r"'*[=+\-@\t\r]")


def safe_cell(text: str) -> str:
    """`text` with one apostrophe more before what would be run; `plain_cell` takes it off again."""
    return f"'{text}" if _RUN.match(text) else text


def plain_cell(cell: str) -> str:
    """What `safe_cell` was given: plain_cell(safe_cell(x)) == x for every x."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def safe_row(values: Iterable[Any]) -> list[Any]:
    """Text that would be run gets an apostrophe before it; numbers stay numbers, None is an empty cell."""
    return [safe_cell(value) if isinstance(value, str) else value for value in values]
