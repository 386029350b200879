"""Read the raw rows of a CSV file: detect its delimiter, split off its header, join the columns of a second file."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from evaluation.score_files.json_records import fail
from foilworks.core.corpus.import_formats.parsing.any_rows import header_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, split_rows

Line = tuple[int, list[str]]


class CsvSource:
    """`names` of the first row, as written; `header_line` if they are separate from the rows.

    CorpusError or EvaluationError, with the line: no such file, no row, a quote that is never closed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.delimiter, header = header_of(path)
        self.names: list[str] = list(header.names)
        self.header_line: int | None = header.line
        if not self.names:
            # Usually an unclosed quote, which the splitting reports.
            next(split_rows(path, COMMA), None)
            fail(path, None, "record", "there is none", "give a header and at least one row")

    def rows(self) -> Iterator[Line]:
        """Return (line, cells) of the rows below the header that contain text."""
        for line, cells in split_rows(self.path, self.delimiter):
            if line != self.header_line and any(map(str.strip, cells)):
                yield line, cells


class NamedSource(CsvSource):
    """A file without a header, with given names of its columns."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        super().__init__(path)
        if len(names) != len(self.names):
            fail(path, 1, "record", f"has {len(self.names)} cells", f"give that many names, not {len(names)}")
        self.names, self.header_line = list(names), None


class JoinedSource(CsvSource):
    """A file joined with the columns of another one, row by row; columns in both must be equal."""

    def __init__(self, own: CsvSource, second_file: Path) -> None:
        self.own, self.second = own, CsvSource(second_file)
        self.path, self.header_line = own.path, own.header_line
        index_by_name = {name.strip().lower(): k for k, name in enumerate(own.names)}
        second_columns = list(enumerate(self.second.names))
        self.shared = [(index_by_name[name.lower()], k) for k, name in second_columns if name.lower() in index_by_name]
        self.extra = [k for k, name in second_columns if name.lower() not in index_by_name]
        self.names = [*own.names, *(self.second.names[k] for k in self.extra)]

    def rows(self) -> Iterator[Line]:
        for own_line, second_line in zip_longest(self.own.rows(), self.second.rows()):
            if own_line is None or second_line is None:
                longer, (line, _) = (self.second, second_line) if own_line is None else (self.own, own_line)
                fail(
                    longer.path,
                    line,
                    "record",
                    "has no matching row in the second file",
                    "give files with the same rows in one order",
                )
            (line, cells), (other_line, second_cells) = own_line, second_line
            for own_index, second_index in self.shared:
                if cells[own_index : own_index + 1] != second_cells[second_index : second_index + 1]:
                    problem = f"differs from {self.second.path.name}:{other_line}"
                    fail(
                        self.path,
                        line,
                        self.own.names[own_index],
                        problem,
                        "give files with the same rows in one order",
                    )
            yield line, [*cells, *(second_cells[k] for k in self.extra if k < len(second_cells))]
