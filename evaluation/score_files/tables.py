"""Read tables of scores, predictions, answers and votes: by the parsed header, or by JSON's fields.

CSV: commas, semicolons or tabs, any quoting, a byte order mark, any line ends. Ids are in the column `id`, or in one
of ID_NAMES, or in a first column without a name (the index of a data frame). A header of numbers 0, 1, 2 … is that of
an array. A file of numbers without a header has rows without ids.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NoReturn

from evaluation.errors import EvaluationError
from evaluation.score_files.csv_source import CsvSource, JoinedSource, NamedSource
from evaluation.score_files.json_records import Row, fail, rows
from foilworks.core.corpus.import_formats.parsing.sheets import ENDINGS
from foilworks.core.text.quoting import quoted, shortened

ID_NAMES = ("id", "sample", "item", "item_id", "video_id")
# If unused, they are refused: a file that has them next to a prediction means them to count.
TRUTH_NAMES = frozenset({"answer", "answers", "label", "labels", "gold", "target", "correct", "truth", "ground_truth"})
SUFFIXES = frozenset({".csv", ".tsv", *ENDINGS})
INDEX = "(index)"
# The scores of a row start here: of an array, of a file without a header, and of `id,scores`.
SCORES = "scores"
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+")
_SHOWN = 12

Columns = Mapping[str, str]
Uses = Callable[[str], bool]


def parse_columns(text: str) -> dict[str, str]:
    """Parse `id=qid, right=answer` into {role: column}. EvaluationError: not such a pair, or a role occurs twice."""
    columns: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        role, equals, name = (piece.strip() for piece in pair.partition("="))
        if not (role and equals and name) or role in columns:
            raise EvaluationError(
                f"columns: {quoted(pair)} is not a column; write each role once as ROLE=NAME, such as id=question_id"
            )
        columns[role] = name
    return columns


class Table:
    """The records of a file, and its columns by role: `columns` maps {role: name} if the file uses other names.

    `names`: those of the header or, for JSON, of the first record. `ids`: whether they are "named", an "index" without
    a name, or absent, so that "rows" count. `ignored`: unused columns, complete after the last row. For CSV, `names`
    are the columns of a file without a header, and `beside` is a file with further columns of the same rows.
    EvaluationError or CorpusError, with the line: a file that cannot be read, an ambiguous header.
    """

    def __init__(
        self,
        path: Path,
        columns: Columns | None = None,
        *,
        is_csv: bool | None = None,
        names: Sequence[str] = (),
        second_file: Path | None = None,
    ) -> None:
        self.path = path
        self.ignored: dict[str, None] = {}
        self.ids = "named"
        self._columns = columns
        self._roles = {name: role for role, name in (columns or {}).items()}
        self.is_csv = path.suffix.lower() in SUFFIXES if is_csv is None else is_csv
        if not self.is_csv and (names or second_file):
            raise EvaluationError(f"{path}: only a CSV file takes column names or a second file; leave them out")
        if self.is_csv:
            source = NamedSource(path, names) if names else CsvSource(path)
            self._source = JoinedSource(source, second_file) if second_file else source
            self._open_csv(is_named=bool(names))
        else:
            self._records = rows(path)
            first = next(self._records, None)
            self.names = tuple(self._by_role(first).fields) if first else ()
            self._records = chain([first] if first else [], self._records)

    def rows(self, uses: Uses | None = None, truth: str = "") -> Iterator[Row]:
        """Return the records, once. `uses` says which columns are read; the others are `ignored`.

        `truth`: the role that a column such as `answer` should have. An unused column of that kind is an error.
        """
        if self.is_csv:
            self._note([name for name in self.names if uses and not uses(name)], self._source.header_line, truth)
            yield from self._csv_rows()
            return
        seen: set[str] = {"id"}
        for row in self._records:
            if self._roles or "id" not in row.fields:
                row = self._by_role(row)
            if uses and not row.fields.keys() <= seen:
                new = row.fields.keys() - seen
                seen |= new
                self._note([name for name in row.fields if name in new and not uses(name)], row.line, truth)
            yield row

    def again(self) -> "Table":
        """Return the same file from its first record."""
        return Table(self.path, self._columns, is_csv=self.is_csv)

    def need(self, *names: str) -> None:
        """Raise EvaluationError if a table lacks one of these columns. Records of JSON are checked one by one."""
        for name in names:
            if self.is_csv and name not in self.names:
                fix = f"name it in the header, or map it: --column {name}=NAME"
                fail(self.path, self._source.header_line or 1, name, f"there is no such column ({self.shown})", fix)

    @property
    def shown(self) -> str:
        column_names = [shortened(name) or "one without a name" for name in self._source.names[:_SHOWN]]
        return f"its columns: {', '.join(column_names) or 'none'}{', …' if len(self._source.names) > _SHOWN else ''}"

    def _note(self, unused: list[str], line: int | None, truth: str) -> None:
        for name in unused:
            if truth and name.lower() in TRUTH_NAMES:
                problem = "looks like the right answer, but is not used"
                assignment = f"{truth}={shortened(name)}"
                fix = f"use it by --column {assignment} (on the page: {assignment}), or remove it"
                fail(self.path, line, name, problem, fix)
            self.ignored[name] = None

    def _by_role(self, row: Row) -> Row:
        """Return a JSON record with its fields by role, and its id as `id`."""
        roles = {name: role for name, role in self._roles.items() if name in row.fields}
        if not row.key and "id" not in row.fields and "id" not in roles.values():
            roles |= dict.fromkeys([n for n in ID_NAMES if n in row.fields][:1], "id")
        if not roles:
            return row
        # A field with a role takes precedence over a field of that name.
        fields = {name: value for name, value in row.fields.items() if name not in roles}
        fields |= {role: row.fields[name] for name, role in roles.items()}
        return Row(row.path, row.line, fields, row.key, called={role: name for name, role in roles.items()})

    def _open_csv(self, *, is_named: bool) -> None:
        names = [name.lower() for name in self._source.names]
        numeric = [bool(_NUMBER.fullmatch(name)) for name in names]
        if is_named or not any(numeric):
            self._name(names, len(names))
        elif all(numeric):
            self._open_numbers(names)
        elif not numeric[0] and len(names) > 2 and _is_counting(names[1:]):
            self._name([names[0], SCORES], len(names))
        else:
            value = names[numeric.index(True)]
            fix = "add a header line above the rows, such as id,caption,foil"
            fail(self.path, self._source.header_line, "header", f"{quoted(value)} is a number, not a column name", fix)

    def _open_numbers(self, names: list[str]) -> None:
        """Interpret a first line of only numbers: a row of scores, or 0, 1, 2 …, which may be the header of an
        array."""
        if not _is_counting(names) or len(names) < 2:
            self._source.header_line = None
            self._name([SCORES], 0)
            return
        later = (cell.strip() for _line, cells in self._source.rows() for cell in cells)
        if all(_WHOLE.fullmatch(cell) for cell in later if cell):
            problem = f"{shortened(','.join(names))} may be a row of scores, or the names of an array's columns"
            fail(self.path, self._source.header_line, "header", problem, "add a header line, such as id,caption,foil")
        self._name([SCORES], len(names))

    def _name(self, names: list[str], width: int) -> None:
        """Name the columns. `width`: number of cells per row; 0 if it differs by row."""
        roles = {name.lower(): role for name, role in self._roles.items()}
        for name in roles:
            if name not in names:
                self._lacks(name)
        role_names = set(roles.values())
        names = [roles.get(name, f"{name} (unused)" if name in role_names else name) for name in names]
        if "id" not in names:
            id_column = next((name for name in ID_NAMES if name in names), "")
            self.ids = "named" if id_column else "rows" if names[0] else "index"
            names = ["id" if name == id_column and self.ids != "rows" else name for name in names]
        if not names[0] and self.ids != "index":
            names[0] = INDEX
        for k, name in enumerate(names):
            if name in names[:k]:
                fail(
                    self.path,
                    self._source.header_line,
                    "header",
                    f"has two columns {quoted(name)}",
                    "give each its own name",
                )
            if not name:
                fail(
                    self.path,
                    self._source.header_line,
                    "header",
                    f"has no name for column {k + 1}",
                    "name or remove it",
                )
        self.names = tuple(names)
        pairs = zip(names, self._source.names, strict=False)
        self._called = {name: own or INDEX for name, own in pairs if name not in {own.lower(), SCORES}}
        self._width = 0 if names[-1] == SCORES and width == len(names) else width

    def _lacks(self, name: str) -> NoReturn:
        fail(self.path, self._source.header_line, name, f"there is no such column ({self.shown})", "correct --column")

    def _csv_rows(self) -> Iterator[Row]:
        names, width, ragged = self.names, self._width, self.names[-1] == SCORES
        for line, cells in self._source.rows():
            if len(cells) != width and (width or len(cells) < len(names)):
                problem = f"has {len(cells)} cells where the header has {width or len(names)}"
                if len(cells) > width > 0:
                    problem = f"has more cells than the header: {len(cells)}, not {width}"
                fail(self.path, line, "record", problem, "fix the line, or quote the cells that contain the delimiter")
            fields: dict[str, object] = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip()}
            if ragged:
                values = cells[len(names) - 1 :]
                while values and not values[-1].strip():
                    values.pop()
                fields[SCORES] = values
            if self.ids == "rows":
                fields["id"] = str(line)
            yield Row(self.path, line, fields, "", True, self._called)


def _is_counting(names: Sequence[str]) -> bool:
    return list(names) == [str(k) for k in range(len(names))]
