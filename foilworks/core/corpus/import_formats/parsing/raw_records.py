"""Read the raw records of a file: a table, JSON lines, JSON with a list, with records by id or by columns, Parquet."""

import math
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import kind_of, rows_of
from foilworks.core.corpus.import_formats.parsing.column_names import NAMES, has_role
from foilworks.core.corpus.import_formats.parsing.json_records import Member, members, read_text
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.sheets import ENDINGS

TABLES = frozenset({".csv", ".tsv", *ENDINGS})
LINES = frozenset({".jsonl", ".ndjson"})
JSON = ".json"
PARQUET = ".parquet"
# Where the files of a folder are looked for: data sets on the hub have them in data/, or in a folder per configuration.
_DEEPER = ("data/[!.]*/[!.]*", "[!.]*/[!.]*")
_PLACES = ("data/[!.]*", "[!.]*", *_DEEPER)
# Behind the name of a file that is one of several parts.
_PART = re.compile(r"-\d{5}-of-\d{5}")


def raw_records(path: Path, limits: TableLimits | None = None) -> Iterator[RawRecord]:
    """Yield the records of the file. A number that is not a number (NaN), which pandas writes, is a missing value.

    `limits`: those of Parquet files. CorpusError: the file as a whole cannot be read.
    """
    for raw in _records(path, limits or TableLimits()):
        yield raw if raw.problem else raw._replace(value=_without_nan(raw.value))


def files_in(folder: Path) -> list[tuple[Path, str]]:
    """Return the files of a benchmark in a folder: Parquet files, or else tables and JSON.

    They are in `data/`, in the folder itself, or one folder deeper: then each such folder is a subtest, and its name is
    with its files. CorpusError: there is none.
    """
    for suffixes in (frozenset({PARQUET}), TABLES | LINES | {JSON}):
        for pattern in _PLACES:
            paths = (path for path in folder.glob(pattern) if path.suffix.lower() in suffixes and path.is_file())
            if files := sorted(paths):
                return [(path, path.parent.name if pattern in _DEEPER else "") for path in files]
    problem = "has no file in Parquet, JSON, JSON lines, CSV or TSV, nor has a folder in it"
    raise CorpusError(f"{folder}: folder: {problem}; give the folder of the files, or name them")


def stem_of_parts(path: Path) -> str:
    """Return the name of the file without its ending, and without the number of its part."""
    return _PART.sub("", path.stem)


def _records(path: Path, limits: TableLimits) -> Iterator[RawRecord]:
    if kind_of(path) == "json":
        yield from (RawRecord(*member) for member in _members(path))
    else:
        yield from rows_of(path, limits)


def _members(path: Path) -> Iterator[Member]:
    """Yield the records of a list or an object; of an object with one list of records, those of the list."""
    records = list(members(path, read_text(path)))
    if columns := _columns(records):
        for number, row in enumerate(zip(*columns.values(), strict=True), 1):
            yield Member(None, dict(zip(columns, row, strict=True)), number)
        return
    lists = [member for member in records if isinstance(member.value, list) and member.key is not None]
    if len(lists) == 1:
        records = [Member(None, value, lists[0].line) for value in lists[0].value]
    elif by_id := _records_by_id(records):
        records = [Member(name, value, by_id.line) for name, value in by_id.value.items()]
    yield from records


def _records_by_id(records: list[Member]) -> Member | None:
    """Return the only member that holds objects of equal fields by their ids, beside others that describe the file."""
    groups = [
        member
        for member in records
        if isinstance(member.value, dict)
        and len(member.value) > 1
        and all(isinstance(value, dict) for value in member.value.values())
        and len({tuple(sorted(value)) for value in member.value.values()}) == 1
    ]
    return groups[0] if len(groups) == 1 < len(records) else None


def without_records(document: Any, removed: Collection[int]) -> Any:
    """Return a JSON document without these raw records, by their indices in `raw_records`; all else is as it was."""
    if isinstance(document, list):
        return [value for index, value in enumerate(document) if index not in removed]
    members = [Member(name, value, 0) for name, value in document.items()]
    if _columns(members):
        names = list(members[0].value)
        dropped = {names[index] for index in removed} if isinstance(members[0].value, dict) else set()
        return {
            member.key: {name: cell for name, cell in member.value.items() if name not in dropped}
            if isinstance(member.value, dict)
            else without_records(member.value, removed)
            for member in members
        }
    lists = [member for member in members if isinstance(member.value, list)]
    if len(lists) == 1:
        return {**document, lists[0].key: without_records(lists[0].value, removed)}
    return {member.key: member.value for index, member in enumerate(members) if index not in removed}


def _columns(members: list[Member]) -> dict[str, list[Any]]:
    """Return the cells of each column, if the members are columns of one length, as pandas and `datasets` write them.

    Names and cells decide: records by id have the names of their fields inside, and lists by subtest hold records.
    Cells by row name are in the order of the first column.
    """
    columns = {member.key: member.value for member in members if member.key is not None}
    if not 1 < len(columns) == len(members) or not _has_roles(columns):
        return {}
    first = members[0].value
    if isinstance(first, dict) and not _has_roles(first):
        same_rows = [
            column for column in columns.values() if isinstance(column, dict) and column.keys() == first.keys()
        ]
        if len(same_rows) == len(members):
            columns = {name: [column[row] for row in first] for name, column in columns.items()}
    cells = [column for column in columns.values() if isinstance(column, list)]
    is_table = len({len(column) for column in cells}) == 1 and len(cells) == len(members)
    return columns if is_table and not any(isinstance(cell, dict) for column in cells for cell in column) else {}


def _has_roles(names: Collection[str]) -> bool:
    return any(has_role(names, role) for role in NAMES)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    return [_without_nan(inner) for inner in value] if isinstance(value, list) else value
