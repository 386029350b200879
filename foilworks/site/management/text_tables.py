"""Format plain tables for a terminal, for commands without `--json`."""

from collections.abc import Iterable, Sequence
from typing import Any

NOTHING = "-"


def cell(value: Any) -> str:
    """Format a number with four decimals, an interval in brackets, a missing value as a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"[{cell(value[0])}, {cell(value[1])}]"
    return str(value)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Align columns to their widest cell; the first column to the left, the others to the right."""
    lines = [list(headers), *[[cell(value) for value in row] for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def table_of(records: Sequence[dict[str, Any]], keys: Sequence[str]) -> str:
    """Format the named fields of the records, one row each."""
    return table(keys, [[record.get(key) for key in keys] for record in records])
