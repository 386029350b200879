"""Read the answers of a benchmark from a second file, by id."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.column_names import Columns, named
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.text.quoting import quoted


@dataclass(frozen=True)
class Answers:
    """id -> the fields that the second file has of it; `used`: ids of the benchmark that have their answer."""

    path: Path
    by_id: Mapping[str, Mapping[str, Any]]
    used: set[str] = field(default_factory=set)

    def joined(self, fields: Mapping[str, Any], own_fields: Mapping[str, str], columns: Columns) -> dict[str, Any]:
        """Return the fields with those of the answer; where both have one, the benchmark's.

        ProblemError: no id, or no answer. CorpusError: two records have the id, so its answer is that of one of them.
        """
        own_id = named(fields, "id", columns)
        name = str(own_fields.get("id", "") if own_id is None else own_id)
        if not name:
            raise ProblemError("id", "is missing, which joins the answers", "name its column with --column id=NAME")
        if name not in self.by_id:
            raise ProblemError(
                "answer", f"of id {quoted(name)} is not in {self.path.name}", "add it, or omit the record"
            )
        if name in self.used:
            raise CorpusError(
                f"id {quoted(name)} is that of two records, so that answers cannot be joined by it; name a column of "
                "unique ids with --column id=NAME"
            )
        self.used.add(name)
        return {**self.by_id[name], **{key: value for key, value in fields.items() if value is not None}}


def answers_of(path: Path, raw: Iterable[RawRecord], columns: Columns) -> Answers:
    """Return the answers of a file: objects with an id, or an object of answers by id.

    CorpusError: a record cannot be read, has no id, or differs from an earlier one with the same id.
    """
    fields_by_id: dict[str, Mapping[str, Any]] = {}
    for record in raw:
        if record.problem:
            raise CorpusError(f"{path}:{record.line}: {record.field}: {record.problem}; correct the line")
        name, fields = _entry(record, columns)
        if not name:
            raise CorpusError(
                f"{path}:{record.line}: id: is missing; give each answer the id of its question, or name the column "
                "with --column id=NAME"
            )
        if fields_by_id.setdefault(name, fields) != fields:
            raise CorpusError(f"{path}:{record.line}: id: {quoted(name)} has two different answers; keep one of them")
    return Answers(path, fields_by_id)


def _entry(record: RawRecord, columns: Columns) -> tuple[str, Mapping[str, Any]]:
    value = record.value
    if not isinstance(value, Mapping):
        return record.key or "", {columns.get("answer", "answer"): value}
    own_id = named(value, "id", columns)
    name = record.key if own_id is None else own_id
    return "" if name is None else str(name), {
        key: field_value for key, field_value in value.items() if field_value is not None
    }
