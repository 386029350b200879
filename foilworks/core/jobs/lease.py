"""Leases on running jobs: who holds a row, until when, and how a lease is renewed, released and lost.

The fencing token is the row's number of attempts: each claim increments it, nothing lowers it, and every write
of that attempt checks it, so that a worker whose lease went to another one can no longer write.

Leases use the database's clock, which all hosts share: a host whose clock is wrong, or jumps, neither takes leases of
others nor keeps lost ones.
"""

import logging
import os
import socket
import threading
from datetime import timedelta
from types import TracebackType
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from foilworks.core.jobs.models import Job, JobState

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
# Several heartbeats per lease: SQLite may delay one of them by up to 20 seconds.
BEAT_SECONDS = LEASE.total_seconds() / 4
# A running job whose worker has been silent longer than its lease.
ABANDONED = Q(state=JobState.RUNNING, lease_until__lt=Now())
# The database connection is lost or refused: not an error of the job itself.
NO_DATABASE = (OperationalError, InterfaceError)


class JobStopped(BaseException):
    """This attempt has lost its row: the job was cancelled, or its lease went to another worker.

    Not an Exception, so that a job's own error handling does not catch it.
    """


def claim(job_id: str) -> Job | None:
    """Take the lease of a waiting job, or of a running one with an expired lease; None otherwise."""
    waiting = Job.objects.filter(pk=job_id, state=JobState.WAITING)
    abandoned = Job.objects.filter(ABANDONED, pk=job_id)
    for rows, lost in ((waiting, 0), (abandoned, 1)):
        n_claimed = rows.update(
            state=JobState.RUNNING,
            attempts=F("attempts") + 1,
            losses=F("losses") + lost,
            started_at=timezone.now(),
            finished_at=None,
            error="",
            worker=worker_name(),
            **_renewal(),
        )
        if n_claimed:
            return Job.objects.get(pk=job_id)
    return None


def _renewal() -> dict[str, Any]:
    return {"heartbeat_at": Now(), "lease_until": Now() + LEASE}


def worker_name(pid: int | None = None) -> str:
    """Return the display name of a process of this host, by default this one: host and process id."""
    return f"{socket.gethostname()[:100]}:{os.getpid() if pid is None else pid}"


def write(job: Job, **fields: object) -> None:
    """Write fields of a job and renew its lease. JobStopped: this attempt no longer holds the job."""
    attempt_rows = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    n_written = attempt_rows.update(**{**_renewal(), **fields})
    if not n_written:
        raise JobStopped(f"job {job.pk} is no longer held by attempt {job.attempts}")
    for name, value in fields.items():
        setattr(job, name, value)


class Heartbeat:
    """Renew the lease from a separate thread while the job runs, also during long steps without progress.

    Inside a transaction no other process sees the row, and on SQLite a second connection cannot write: no thread then.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{job.pk}", daemon=True)

    def __enter__(self) -> None:
        if not connection.in_atomic_block:
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._over.wait(BEAT_SECONDS):
                if not self._renewed():
                    return
        finally:
            connection.close()

    def _renewed(self) -> bool:
        try:
            # A copy: this thread must not change the job's own instance.
            write(Job(pk=self._job.pk, attempts=self._job.attempts))
        except JobStopped:
            return False
        except NO_DATABASE as error:
            # A locked or unreachable database: the next heartbeat retries with a new connection, within the lease.
            logger.warning("job %s: missed a heartbeat: %s", self._job.pk, error)
            connection.close()
        return True
