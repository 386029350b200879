"""What the formats with one record an item write: read again at each pass, so that no size of it fills the memory."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus.records import ItemRecord


class Records(Collection[ItemRecord]):
    """Records that are read anew each time somebody goes through them."""

    def __init__(self, read: Callable[[], Iterator[ItemRecord]], n: int):
        self._read, self._n = read, n

    def __iter__(self) -> Iterator[ItemRecord]:
        return self._read()

    def __contains__(self, item: object) -> bool:
        return any(item == record for record in self)

    def __len__(self) -> int:
        return self._n


@dataclass(frozen=True)
class RecordContent:
    """A release, or a project as it is now (`release` and `content_hash` are then empty), as records in a fixed order.

    `facts`: what else the manifest says.
    """

    project: str
    release: str
    content_hash: str
    created_at: str
    records: Records
    simulated: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
