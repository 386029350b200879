"""Spread a job over many workers: it plans, its shards do the work, and it resumes when they are over.

    job -> Spread(...) -> state spread, one row per shard -> every shard done -> the job runs again and collects

A shard is a job row like any other: claimed, leased, with a heartbeat, resumed elsewhere if its worker dies. The
shards are run by a `Runner`: the workers of an engine (`QueueRunner`), or this process
(`foilworks.core.jobs.runner.InProcessRunner`).
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from django.db import transaction

from foilworks.core.jobs.lease import write
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import submit

EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Partly:
    """Returned by a job's function that ran to its end, but with too much missing. `why`: one sentence."""

    why: str


@dataclass(frozen=True)
class Spread:
    """Returned by a job's function to run `dotted(target_id, shard)` for each of `shard_payloads`.

    A part is (its payload as JSON, its number of steps). `carried` is stored for the second run of the job itself, in
    its `payload`. `route` as `foilworks.core.jobs.queue.enqueue`, by default the job's own.
    """

    dotted: str
    shard_payloads: Sequence[tuple[Mapping[str, Any], int]]
    carried: Mapping[str, Any] = field(default_factory=dict)
    route: str | None = None


class Runner(Protocol):
    """Runs shards."""

    def submit(self, shards: Sequence[Job]) -> None:
        """Start the shards and return at once. `foilworks.core.jobs.runner.execute(str(shard.pk))` runs each of
        them."""
        ...

    def collect(self, job: Job) -> Iterator[Job]:
        """Yield the shards of the job as they end, in any state, until none is open."""
        ...


class QueueRunner:
    """A runner with the workers of an engine, RQ or Ray, on any number of hosts."""

    def submit(self, shards: Sequence[Job]) -> None:
        submit(shards)

    def collect(self, job: Job) -> Iterator[Job]:
        finished_ids: set[Any] = set()
        while True:
            rows = list(job.shards.all())
            for row in rows:
                if row.is_over and row.pk not in finished_ids:
                    finished_ids.add(row.pk)
                    yield row
            if all(row.is_over for row in rows):
                return
            time.sleep(EVERY_SECONDS)


def spread(job: Job, plan: Spread, runner: Runner) -> list[Job]:
    """Store the shards and make the job wait for them; `runner` gets them on commit.

    JobStopped: this attempt no longer holds the job.
    """
    shards = [
        Job(
            dotted=plan.dotted,
            target_id=job.target_id,
            queue=job.queue,
            route=job.route if plan.route is None else plan.route,
            title=f"{job.title} ({number}/{len(plan.shard_payloads)})"[:200],
            project_id=job.project_id,
            request_id=job.request_id,
            parent=job,
            number=number,
            payload=dict(payload),
            total=total,
        )
        for number, (payload, total) in enumerate(plan.shard_payloads, 1)
    ]
    with transaction.atomic():
        write(job, state=JobState.SPREAD, lease_until=None, payload={**job.payload, **plan.carried})
        Job.objects.bulk_create(shards, batch_size=500)
        transaction.on_commit(partial(runner.submit, shards))
    return shards


def failures(shards: Iterable[Job]) -> list[Job]:
    """Return the shards that failed or were cancelled."""
    return [shard for shard in shards if shard.state in {JobState.FAILED, JobState.CANCELLED}]
