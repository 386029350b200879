"""Estimate the progress of a run's shards and its end, for pages and for a continued run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils import timezone

from evaluation.scoring.models import Run
from foilworks.core.jobs.models import OPEN_STATES, Job, JobState

SECONDS = ("decode", "wait", "compute", "write")
COUNTS = ("clips", "texts", "pairs", "vectors_kept")
# A shard's measured value: the key of its model, if it differs from the key of the plan.
OTHER_MODEL = "other_model"
# Running and failed shards come first; nobody reads the rest of a thousand shards.
MAX_SHOWN = 40
FIRST = (JobState.RUNNING, JobState.FAILED, JobState.WAITING, JobState.CANCELLED, JobState.DONE)


def smallest(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return the smaller numbers of two notes of halved batches."""
    return {name: min(first.get(name, size), second.get(name, size)) for name, size in {**first, **second}.items()}


@dataclass(frozen=True)
class Outlook:
    """`rate`: pairs per second since the start; `seconds_left` None if nothing is done yet."""

    done: int
    total: int
    seconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    halved: Mapping[str, int] = field(default_factory=dict)
    rate: float = 0.0
    seconds_left: float | None = None

    @property
    def waits_share(self) -> float:
        """Return the share of the model's time that it waited for frames, 0..1."""
        busy = self.seconds.get("compute", 0.0) + self.seconds.get("wait", 0.0)
        return self.seconds.get("wait", 0.0) / busy if busy else 0.0


def outlook(rows: Iterable[Mapping[str, Any]], done: int, total: int, began: datetime | None, now: datetime) -> Outlook:
    """Estimate the end. `rows`: what each job measured; `done` of `total` pairs are finished; `began`: the
    first start."""
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
    """`shards` has at most MAX_SHOWN of `n_shards`, of which `n_open` are not over."""

    outlook: Outlook
    shards: list[Job]
    n_shards: int
    n_open: int
    can_stop: bool
    can_go_on: bool


def work(run: Run) -> Work | None:
    """Return the shards of a run; None for a run without a job."""
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
        can_go_on=job.state in {JobState.FAILED, JobState.CANCELLED, JobState.PARTLY},
    )


def _shown(shards: QuerySet[Job]) -> QuerySet[Job]:
    order = Case(
        *(When(state=state, then=Value(rank)) for rank, state in enumerate(FIRST)),
        default=Value(len(FIRST)),
        output_field=IntegerField(),
    )
    return shards.order_by(order, "number")[:MAX_SHOWN]
