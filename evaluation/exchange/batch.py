"""The records of one import on their way into the tables, and what was found there already."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from corpus.media_files import KeptMedia
from corpus.models import Caption, Item, Subtest, Video
from corpus.records import BadRecord, ItemRecord
from evaluation.exchange.result import ImportResult
from projects.models import Project

# Below the number of variables that every database takes in one statement.
CHUNK = 500

Thing = TypeVar("Thing")


@dataclass
class Batch:
    """`records` shrinks as records turn out to clash; the tables fill up, step by step, for the steps that follow."""

    project: Project
    path: Path
    result: ImportResult
    records: list[ItemRecord]
    media: dict[str, KeptMedia]
    videos: dict[str, Video] = field(default_factory=dict)
    captions: dict[tuple[int, str], Caption] = field(default_factory=dict)
    subtests: dict[str, Subtest] = field(default_factory=dict)
    pairs: dict[tuple[int, str], Item] = field(default_factory=dict)

    def refuse(self, clashes: Iterable[tuple[ItemRecord, str, str, str]]) -> None:
        """Take these (record, field, problem, fix) out of the import and list them as bad."""
        refused = set()
        for record, name, problem, fix in clashes:
            refused.add(record.id)
            self.result.errors.append(str(BadRecord(self.where(record), name, problem, fix)))
        self.records = [record for record in self.records if record.id not in refused]

    def where(self, record: ItemRecord) -> str:
        return f"{self.path}:{record.line}"


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def chunks(things: Sequence[Thing]) -> Iterator[Sequence[Thing]]:
    for start in range(0, len(things), CHUNK):
        yield things[start : start + CHUNK]
