"""Run the jobs of the gpu queue on a Ray cluster, in warm actors.

    waiting row -> an actor that has its model loaded, an idle one, or a new one -> execute(id) on any node

The rows are the queue. This process reads them, and Ray places its actors by the CPUs and GPUs that they reserve; an
autoscaler sees the actors that wait for a node. If a node dies, its actors' rows return to waiting at once. If this
process dies, Ray ends its actors; their rows return when their leases expire, and the next engine takes them.
"""

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import ray
from django.conf import settings
from django.db import close_old_connections, connection
from ray.exceptions import RayError, RayTaskError

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.lease import BEAT_SECONDS, LEASE, NO_DATABASE
from foilworks.core.jobs.models import OPEN_STATES, Job, JobState
from foilworks.core.jobs.queue import ray_queues
from foilworks.core.jobs.ray.actor import remote_class, variables
from foilworks.core.jobs.ray.reach import AWAY, unreachable
from foilworks.core.jobs.ray.rows import Resources, next_jobs, next_of, resources_of, return_lost, return_stopped
from foilworks.core.jobs.stray_workers import holds

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
# An actor without a job keeps its model and its resources for so long.
IDLE_SECONDS = 60.0
# After an actor that could not start: its node may lack packages or the database.
PAUSE_SECONDS = 5.0
# How often the rows of busy actors are read.
STRAY_SECONDS = 2.0
# How long an actor may work on a job that it no longer holds.
GRACE_SECONDS = LEASE.total_seconds() / 2


@dataclass(eq=False)
class _Actor:
    """An actor of this engine. `pending`: what it does now, starting or a job; None if it is idle."""

    handle: Any
    resources: Resources
    pending: Any
    worker: str = ""
    route: str = ""
    in_a_row: int = 0
    job: UUID | None = None
    idle_since: float = field(default_factory=time.monotonic)
    stray_since: float | None = None

    @property
    def is_idle(self) -> bool:
        return self.pending is None


class RayEngine:
    """At most `slots` actors, each with one job at a time. JobError: the cluster cannot be reached."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._actors: list[_Actor] = []
        # Jobs that returned to waiting by themselves, such as without a database: not before this time.
        self._later: dict[UUID, float] = {}
        self._start_at = self._looked_at = 0.0

    def __enter__(self) -> Self:
        if why := unreachable(settings.RAY_ADDRESS):
            raise JobError(AWAY.format(address=settings.RAY_ADDRESS, why=why))
        try:
            ray.init(settings.RAY_ADDRESS, logging_level=logging.ERROR, configure_logging=False)
        except (ConnectionError, RayError, RuntimeError, ValueError) as error:
            raise JobError(AWAY.format(address=settings.RAY_ADDRESS, why=error)) from error
        self._usual = Resources(1, min(1, int(ray.cluster_resources().get("GPU", 0))))
        self._class = remote_class()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the actors. Their jobs wait for the next engine."""
        for actor in list(self._actors):
            self._drop(actor)
            if actor.job is not None:
                return_stopped(actor.job, actor.worker)
        ray.shutdown()

    def work(self, stopped: threading.Event, *, burst: bool = False) -> None:
        """Run jobs until `stopped` is set; with `burst`, until no job of the queue is open."""
        while not stopped.is_set():
            close_old_connections()
            try:
                self._step()
                if burst and not self._busy() and not self._has_open_jobs():
                    return
            except NO_DATABASE as error:
                logger.warning("cannot read the jobs: %s; retry in %.0f s", error, PAUSE_SECONDS)
                connection.close()
                stopped.wait(PAUSE_SECONDS)
            self._wait(stopped)

    @staticmethod
    def _has_open_jobs() -> bool:
        return Job.objects.filter(queue__in=ray_queues(), state__in=OPEN_STATES).exists()

    def _busy(self) -> dict[UUID, _Actor]:
        return {actor.job: actor for actor in self._actors if actor.job is not None}

    def _wait(self, stopped: threading.Event) -> None:
        """Wait until an actor has done something, or for a moment: rows may have come."""
        pending = [actor.pending for actor in self._actors if not actor.is_idle]
        if pending:
            ray.wait(pending, timeout=LOOK_SECONDS)
        else:
            stopped.wait(LOOK_SECONDS)

    def _step(self) -> None:
        pending = {actor.pending: actor for actor in self._actors if not actor.is_idle}
        if pending:
            finished_calls, _ = ray.wait(list(pending), num_returns=len(pending), timeout=0)
            for call in finished_calls:
                self._end(pending[call], call)
        self._drop_strays()
        self._assign()

    def _end(self, actor: _Actor, call: Any) -> None:
        """Take the result of an actor's start or job: it is idle, or gone."""
        reply = ""
        try:
            reply = ray.get(call)
        except RayError as error:
            if actor.job is None or not isinstance(error, RayTaskError):
                self._lost(actor, error)
                return
            # The job raised: its row has the error, and the actor is whole.
        if actor.job is None:
            actor.worker = reply
        elif Job.objects.filter(pk=actor.job, state=JobState.WAITING).exists():
            self._later[actor.job] = time.monotonic() + BEAT_SECONDS
        actor.job, actor.pending, actor.idle_since, actor.stray_since = None, None, time.monotonic(), None

    def _lost(self, actor: _Actor, error: RayError) -> None:
        self._drop(actor)
        if actor.job is not None:
            logger.warning("%s is lost, and its job %s waits: %s", actor.worker, actor.job, cause(error))
            return_lost(actor.job, actor.worker)
            return
        logger.warning("an actor cannot start: %s; retry in %.0f s", cause(error), PAUSE_SECONDS)
        self._start_at = time.monotonic() + PAUSE_SECONDS

    def _drop(self, actor: _Actor) -> None:
        self._actors.remove(actor)
        ray.kill(actor.handle)

    def _drop_strays(self) -> None:
        """End actors that still work on a job that was cancelled or went to another worker, after a while."""
        busy, now = self._busy(), time.monotonic()
        if not busy or now - self._looked_at < STRAY_SECONDS:
            return
        self._looked_at = now
        rows = Job.objects.in_bulk(busy)
        for job_id, actor in busy.items():
            if holds(actor.worker, rows.get(job_id)):
                actor.stray_since = None
            elif actor.stray_since is None:
                actor.stray_since = now
            elif now - actor.stray_since > GRACE_SECONDS:
                logger.warning("%s is stopped: it works on job %s, which it lost", actor.worker, job_id)
                self._drop(actor)

    def _assign(self) -> None:
        """Give waiting rows to idle actors, then start and stop actors by the rows that are left."""
        now = time.monotonic()
        self._later = {job_id: at for job_id, at in self._later.items() if at > now}
        busy = self._busy()
        room = self._slots - len(busy)
        rows = next_jobs({*busy, *self._later}, room) if room > 0 else []
        for actor in [actor for actor in self._actors if actor.is_idle]:
            job = next_of(rows, actor.resources, self._usual, actor.route, actor.in_a_row)
            if job is not None:
                rows.remove(job)
                self._run(actor, job)
        self._fit(Counter(resources_of(job.route, self._usual) for job in rows), now)

    def _run(self, actor: _Actor, job: Job) -> None:
        actor.in_a_row = actor.in_a_row + 1 if job.route == actor.route else 1
        actor.job, actor.route = job.pk, job.route
        actor.pending = actor.handle.run.remote(str(job.pk))

    def _fit(self, missing: Counter[Resources], now: float) -> None:
        """Start an actor per row that is left, within the slots; stop those that nothing needs."""
        is_short = bool(missing)
        for actor in list(self._actors):
            if actor.is_idle:
                # What is left fits no idle actor: its resources are for others, at once.
                if is_short or now - actor.idle_since > IDLE_SECONDS:
                    self._drop(actor)
            elif actor.job is None:
                missing[actor.resources] -= 1
                if missing[actor.resources] < 0 and now - actor.idle_since > IDLE_SECONDS:
                    self._drop(actor)
        if now < self._start_at:
            return
        for resources in (+missing).elements():
            if len(self._actors) >= self._slots:
                return
            self._actors.append(self._started(resources))

    def _started(self, resources: Resources) -> _Actor:
        options = {"num_cpus": resources.cpus, "num_gpus": resources.gpus, "scheduling_strategy": "SPREAD"}
        environment = variables(settings.RAY_ADDRESS, settings.SETTINGS_MODULE, settings.RAY_DECODERS, *resources)
        handle = self._class.options(**options).remote(environment)
        return _Actor(handle, resources, handle.name.remote())


def cause(error: Exception) -> str:
    """Return the last line of an error of Ray, which names the first cause."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
