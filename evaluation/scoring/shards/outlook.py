"""How far a scoring job is, where its time went and how long it will still take: what the run's page says. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

SECONDS = ("decode", "wait", "compute", "write")
COUNTS = ("clips", "texts", "pairs", "vectors_kept")
# In what a shard measured: the key of the model that it met, where that is not the one the run was planned with.
OTHER_MODEL = "other_model"


def smallest(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Of two notes of halved batches the smaller numbers."""
    return {name: min(one.get(name, size), other.get(name, size)) for name, size in {**one, **other}.items()}


@dataclass(frozen=True)
class Outlook:
    """`rate`: pairs a second since the work began; `seconds_left` None where nothing was done yet."""

    done: int
    total: int
    seconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    halved: Mapping[str, int] = field(default_factory=dict)
    rate: float = 0.0
    seconds_left: float | None = None

    @property
    def waits_share(self) -> float:
        """The share of the model's time in which it stood still for frames, 0..1."""
        busy = self.seconds.get("compute", 0.0) + self.seconds.get("wait", 0.0)
        return self.seconds.get("wait", 0.0) / busy if busy else 0.0


def outlook(rows: Iterable[Mapping[str, Any]], done: int, total: int, began: datetime | None, now: datetime) -> Outlook:
    """`rows`: what each job measured; `done` of `total` pairs are behind; `began`: when the first of them started."""
    measured = list(rows)
    halved: dict[str, int] = {}
    for row in measured:
        halved = smallest(halved, row.get("halved", {}))
    pairs = sum(row.get("pairs", 0) for row in measured)
    elapsed = (now - began).total_seconds() if began else 0.0
    rate = pairs / elapsed if elapsed > 0 else 0.0
    return Outlook(
        done=done,
        total=total,
        seconds={name: float(sum(row.get(name, 0.0) for row in measured)) for name in SECONDS},
        counts={name: int(sum(row.get(name, 0) for row in measured)) for name in COUNTS},
        halved=halved,
        rate=rate,
        seconds_left=(total - done) / rate if rate else None,
    )
