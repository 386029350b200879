"""Find the header of a table below its title and its comments. Pure."""

from collections.abc import Sequence
from typing import Any

# Rows among which the header is looked for.
MAX_ROWS_ABOVE = 20


def n_filled(row: Sequence[Any]) -> int:
    """Return the number of cells that hold something."""
    return sum(cell not in ("", None) for cell in row)


def header_index(rows: Sequence[Sequence[Any]]) -> int:
    """Return the index of the first row with at least half as many cells as the fullest one; comments begin with #."""
    counts = [n_filled(row) for row in rows[:MAX_ROWS_ABOVE]]
    most = max(counts, default=0)
    for index, count in enumerate(counts):
        is_comment = count < most and str(rows[index][0]).startswith("#")
        if 2 * count >= most and count > 1 and not is_comment:
            return index
    return next((index for index, count in enumerate(counts) if count), 0)


def is_below_title(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Report whether a row below others names columns: with a text for each, and rows of the same length below it."""
    names = [name.strip() for name in rows[index]]
    are_names = all(names) and len({*names}) == len(names) and not any(name[:1].isdigit() for name in names)
    below = rows[index + 1 :]
    return are_names and bool(below) and all(len(row) == len(names) for row in below)
