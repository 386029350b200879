"""Draw a fixed number of records from a stream of any length, with a seed: all records of a video, or none."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from foilworks.core.corpus.records import TextRecord

SAMPLE_ITEMS = 10_000
# With fewer records in the sample of all, and not all of its own, a subtest is read from a sample of equal parts.
FEW = 1_000
# Records of all subtests together that are in memory.
MAX_HELD = 60_000


@dataclass
class Sample:
    """The records with the smallest random keys, per subtest and overall. A video has one key, so that what its items
    teach about each other can be measured. `items`: the size of the sample; `room`: records per subtest."""

    seed: int = 0
    items: int = SAMPLE_ITEMS
    _heaps: dict[str, list[tuple[float, int, TextRecord]]] = field(default_factory=dict)
    _every: list[tuple[float, int, TextRecord]] = field(default_factory=list)
    room: int = field(default=0, init=False)
    n: int = field(default=0, init=False)
    _held: int = 0
    _n_of: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.room = self.items

    def add(self, record: TextRecord) -> None:
        self.n += 1
        self._n_of[record.subtest] += 1
        # Negative, because the largest key of a heap is to leave it first.
        entry = (-self._key(record), self.n, record)
        heap = self._heaps.setdefault(record.subtest, [])
        self._held += _push_bounded(heap, entry, self.room)
        _push_bounded(self._every, entry, self.items)
        if self._held > max(MAX_HELD, 2 * len(self._heaps)):
            self._halve()

    def _key(self, record: TextRecord) -> float:
        name = record.group or record.video or f"\0{self.n}"
        digest = hashlib.sha256(f"{self.seed} {name}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def _halve(self) -> None:
        """Keep the half with the smallest keys, which is a uniform sample again."""
        self.room = max(1, self.room // 2)
        for heap in self._heaps.values():
            while len(heap) > self.room:
                heapq.heappop(heap)
        self._held = sum(map(len, self._heaps.values()))

    def subtests(self) -> Iterator[tuple[str, list[TextRecord]]]:
        """Yield each subtest with its sampled records, in the order of the file."""
        for name, heap in self._heaps.items():
            yield name, _ordered(heap)

    def overall(self) -> list[TextRecord]:
        """Return the records sampled from the whole file."""
        return _ordered(self._every)

    def few(self) -> set[str]:
        """Return the subtests of which `overall` has few records, and not all."""
        sampled = Counter(record.subtest for _, _, record in self._every)
        return {name for name, n in self._n_of.items() if sampled[name] < min(FEW, n)}

    def of_subtests(self) -> list[TextRecord]:
        """Return the records that each subtest is read from: those of `overall`, or of `equal_parts` of a few."""
        few = self.few()
        sampled = [record for record in self.overall() if record.subtest not in few]
        return sampled + ([record for record in self.equal_parts() if record.subtest in few] if few else [])

    def equal_parts(self) -> list[TextRecord]:
        """Return a sample of as many records of each subtest, together at most `items` or one of each."""
        n = max(1, self.items // len(self._heaps))
        return _ordered([entry for heap in self._heaps.values() for entry in heapq.nlargest(n, heap)])


def _push_bounded(heap: list[tuple[float, int, TextRecord]], entry: tuple[float, int, TextRecord], room: int) -> int:
    if len(heap) < room:
        heapq.heappush(heap, entry)
        return 1
    heapq.heappushpop(heap, entry)
    return 0


def _ordered(heap: list[tuple[float, int, TextRecord]]) -> list[TextRecord]:
    return [record for _, _, record in sorted(heap, key=lambda entry: entry[1])]
