"""`csv`: the columns of `jsonl` as a table with a header, commas, semicolons or tabs between the cells.

An empty cell is an absent field. Blanks around names and ids mean nothing; an apostrophe is taken off where our export
put it (foilworks.core.corpus.rules.escaped_cells). Times are numbers; `foils`, `proficiency`, `votes`, `facts` and
`extra` are JSON in their cells, and `foils` may be one plain text. Of columns that nothing names, cells that read as
numbers are numbers.
A table without captions that names a class per video is a list of videos (parsing/video_rows.py).
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats import jsonl
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, default_subtest, read_records
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, SEMICOLON, TAB, first_row, read_rows
from foilworks.core.corpus.import_formats.parsing.text_files import Source, holds_texts
from foilworks.core.corpus.import_formats.parsing.text_items import read_text_items
from foilworks.core.corpus.import_formats.parsing.video_rows import lists_videos, read_videos
from foilworks.core.corpus.records import ItemRecord, ReadOutcome, RecordWarning
from foilworks.core.corpus.rules.escaped_cells import CellReader

TAKES_LIMITS = True
_JSON_COLUMNS = ("foils", "proficiency", "votes", "facts", "extra")
_TEXTS = frozenset({"caption", "foil", *_JSON_COLUMNS})
_NAMES = frozenset(jsonl.COLUMNS) - _TEXTS
_NUMBERS = frozenset({"start_time", "end_time"})
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a table. CorpusError when the file as a whole cannot be read."""
    if lists_videos(path):
        yield from read_videos(path, params)
        return
    if not _is_our_table(path) and holds_texts(Source(path)):
        yield from read_text_items(path, params)
        return
    subtest = default_subtest(path, params)
    rows = read_rows(path, ["id", "caption"], COMMA + SEMICOLON + TAB, one_of=jsonl.NAMES_OF_CLIPS)
    cells = CellReader(path, _NAMES)
    raw = (row._replace(value=cells.read(row.value)) for row in rows)
    for outcome in read_records(path, raw, lambda record: _parse(record, subtest)):
        if isinstance(outcome, ItemRecord):
            for name in cells.kept_apostrophes & _TEXTS:
                problem = "starts with an apostrophe, which is kept; remove it if it only marks the cell as text"
                yield RecordWarning(f"{path}:{outcome.line}", name, problem)
        yield outcome


def _is_our_table(path: Path) -> bool:
    headers = ({*first_row(path, delimiter).names} for delimiter in COMMA + SEMICOLON + TAB)
    return any(jsonl.are_our_columns(names) and names & {*jsonl.NAMES_OF_CLIPS} for names in headers)


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = {name: _value(name, cell) for name, cell in raw.value.items()}
    # JSON within a cell may hold what the cell's text did not show.
    check_content(fields)
    return jsonl.parse(raw._replace(value=fields), subtest)


def _value(name: str, cell: str) -> Any:
    text = cell.strip()
    if name in _JSON_COLUMNS:
        return parse_cell(name, text) if text[:1] in {"[", "{"} else cell
    if (name in _NUMBERS or name not in jsonl.COLUMNS) and _NUMBER.fullmatch(text):
        return json.loads(text)
    return cell


def parse_cell(name: str, text: str) -> Any:
    """JSON of a cell; ProblemError for what is none."""
    try:
        return parse_line(text)
    except ValueError as error:
        raise ProblemError(name, f"is not JSON ({error})", "correct the cell") from error
