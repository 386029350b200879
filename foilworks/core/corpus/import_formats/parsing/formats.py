"""A published format: how its file becomes raw records, and each of these its items."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    default_subtest,
    given_dataset,
    read_several,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.records import ItemRecord, ReadOutcome


@dataclass
class File:
    """A file that is read, its parameters, and what all of its records share.

    `facts`: what the file states once, such as the names of its types of question.
    """

    path: Path
    params: Mapping[str, Any]
    names: Names = field(default_factory=Names)
    facts: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def subtest(self) -> str:
        return default_subtest(self.path, self.params)

    @cached_property
    def dataset(self) -> str:
        return given_dataset(self.params)

    @cached_property
    def split(self) -> str:
        """CorpusError: the parameter is not a split."""
        return split_of(self.path, self.params)


@dataclass(frozen=True)
class Format:
    """`raw`: the raw records of a file; `parse`: the item of one, or several items that are taken together.

    Not `own_ids`: the format has none, and equal ids mean equal records (`Names`).
    """

    raw: Callable[[File], Iterable[RawRecord]]
    parse: Callable[[File, RawRecord], ItemRecord | tuple[ItemRecord, ...]]
    own_ids: bool = True
    YIELDS: str = "items"

    def read(self, path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
        """Read the file's records. CorpusError: it cannot be read as a whole, or a parameter is wrong."""
        file = File(path, params)

        def parse(record: RawRecord) -> tuple[ItemRecord, ...]:
            items = self.parse(file, record)
            return items if isinstance(items, tuple) else (items,)

        yield from read_several(path, self.raw(file), parse, own_ids=self.own_ids)


def json_members(file: File) -> Iterator[RawRecord]:
    """Yield the entries of a JSON object or list. CorpusError, with the line: it is not complete JSON."""
    yield from (RawRecord(*member) for member in members(file.path, read_text(file.path)))
