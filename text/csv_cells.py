"""Cells of a CSV file that a spreadsheet can open without running them."""

import re
from collections.abc import Iterable
from typing import Any

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
