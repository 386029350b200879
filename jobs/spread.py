"""A job that is done by many workers: it plans, its shards do the work, and it is taken up again when they are over.

    job -> Spread(...) -> state spread, one row a shard -> every shard done -> the job runs again and collects

A shard is a job row like any other: claimed, leased, beating, resumed elsewhere when its worker dies. What moves the
shards is a `Runner`: Redis and its workers (`QueueRunner`), or this process (`jobs.runner.InProcessRunner`).
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from django.db import transaction

from jobs.lease import write
from jobs.models import Job, JobState
from jobs.queue import submit

EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Spread:
    """What a job's function returns instead of nothing: `dotted(target_id, shard)` for each of `parts`.

    A part is (what it is about, as JSON; how many steps it has). `carried` is kept for the job's own second turn, in
    its `payload`. `route` as `jobs.queue.enqueue`, by default the job's own.
    """

    dotted: str
    parts: Sequence[tuple[Mapping[str, Any], int]]
    carried: Mapping[str, Any] = field(default_factory=dict)
    route: str | None = None


class Runner(Protocol):
    """What gets shards done. Another one (Ray, a batch system) only needs these two."""

    def submit(self, shards: Sequence[Job]) -> None:
        """Have the shards worked on; returns at once. Each is run by `jobs.runner.execute(str(shard.pk))`."""
        ...

    def collect(self, job: Job) -> Iterator[Job]:
        """The shards of the job as they end, whatever their end; returns when none is open."""
        ...


class QueueRunner:
    """Redis and its workers, on any number of hosts."""

    def submit(self, shards: Sequence[Job]) -> None:
        submit(shards)

    def collect(self, job: Job) -> Iterator[Job]:
        seen: set[Any] = set()
        while True:
            rows = list(job.shards.all())
            for row in rows:
                if row.is_over and row.pk not in seen:
                    seen.add(row.pk)
                    yield row
            if all(row.is_over for row in rows):
                return
            time.sleep(EVERY_SECONDS)


def spread(job: Job, wanted: Spread, runner: Runner) -> list[Job]:
    """Store the shards and let the job wait for them; `runner` hears of them on commit.

    JobStopped: the job is no longer this attempt's.
    """
    shards = [
        Job(
            dotted=wanted.dotted,
            target_id=job.target_id,
            queue=job.queue,
            route=job.route if wanted.route is None else wanted.route,
            title=f"{job.title} ({number}/{len(wanted.parts)})"[:200],
            project_id=job.project_id,
            request_id=job.request_id,
            parent=job,
            number=number,
            payload=dict(payload),
            total=total,
        )
        for number, (payload, total) in enumerate(wanted.parts, 1)
    ]
    with transaction.atomic():
        write(job, state=JobState.SPREAD, lease_until=None, payload={**job.payload, **wanted.carried})
        Job.objects.bulk_create(shards, batch_size=500)
        transaction.on_commit(partial(runner.submit, shards))
    return shards


def failures(shards: Iterable[Job]) -> list[Job]:
    """Those that did not end well."""
    return [shard for shard in shards if shard.state in {JobState.FAILED, JobState.CANCELLED}]
