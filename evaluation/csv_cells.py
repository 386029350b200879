"""Cells of a CSV file that a spreadsheet can open without running them."""

from collections.abc import Iterable
from typing import Any

# A spreadsheet takes text that starts so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_row(values: Iterable[Any]) -> list[Any]:
    """Text that would be run gets an apostrophe before it; numbers stay numbers, None is an empty cell."""
    return [f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value for value in values]
