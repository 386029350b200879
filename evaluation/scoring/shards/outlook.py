"""How far the shards of a run are, and when it will be done: on pages, and of a run that goes on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils import timezone

from evaluation.scoring.models import Run
from jobs.models import OPEN_STATES, Job, JobState

SECONDS = ("decode", "wait", "compute", "write")
COUNTS = ("clips", "texts", "pairs", "vectors_kept")
# In what a shard measured: the key of the model that it met, where that is not the one the run was planned with.
OTHER_MODEL = "other_model"
# Running and failed ones stand first; of a thousand shards nobody reads the rest.
MAX_SHOWN = 40
FIRST = (JobState.RUNNING, JobState.FAILED, JobState.WAITING, JobState.CANCELLED, JobState.DONE)


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


@dataclass(frozen=True)
class Work:
    """`shards` are at most MAX_SHOWN of `n_shards`, of which `n_open` are not over."""

    outlook: Outlook
    shards: list[Job]
    n_shards: int
    n_open: int
    can_stop: bool
    can_go_on: bool


def work(run: Run) -> Work | None:
    """None for a run without a job."""
    job = run.job
    if job is None:
        return None
    rows = list(Job.objects.filter(parent=job).values_list("state", "measured", "started_at"))
    measured = [job.measured, *(cost for _, cost, _ in rows)]
    started = [at for at in (job.started_at if not rows else None, *(at for _, _, at in rows)) if at is not None]
    now = job.finished_at if job.is_over and job.finished_at else timezone.now()
    return Work(
        outlook=outlook(measured, job.done, job.total, min(started, default=None), now),
        shards=list(_shown(Job.objects.filter(parent=job))) if rows else [],
        n_shards=len(rows),
        n_open=sum(state in OPEN_STATES for state, _, _ in rows),
        can_stop=not job.is_over,
        can_go_on=job.state in {JobState.FAILED, JobState.CANCELLED},
    )


def _shown(shards: QuerySet[Job]) -> QuerySet[Job]:
    order = Case(
        *(When(state=state, then=Value(place)) for place, state in enumerate(FIRST)),
        default=Value(len(FIRST)),
        output_field=IntegerField(),
    )
    return shards.order_by(order, "number")[:MAX_SHOWN]
