"""Read the rows of a printed table from text: `name | numbers` per line. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

EMPTY = "-"


@dataclass(frozen=True)
class PrintedTable:
    """The numbers of a table by row and column; None where the paper leaves a cell empty."""

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float | None, ...]]

    def cells(self) -> Iterator[tuple[str, str, float | None]]:
        """Yield (row, column, number) in the paper's order."""
        for row, numbers in self.rows.items():
            for column, number in zip(self.columns, numbers, strict=True):
                yield row, column, number

    def number(self, row: str, column: str) -> float | None:
        return self.rows[row][self.columns.index(column)]


def printed(text: str, columns: Sequence[str]) -> PrintedTable:
    """Return the table of the text. ValueError: a row with another number of cells."""
    rows = {}
    for line in text.strip().splitlines():
        name, _, numbers = line.partition("|")
        cells = tuple(None if cell == EMPTY else float(cell) for cell in numbers.split())
        if len(cells) != len(columns):
            raise ValueError(f"{name.strip()}: has {len(cells)} numbers for {len(columns)} columns; correct the row")
        rows[name.strip()] = cells
    return PrintedTable(tuple(columns), rows)
