"""Find processes of this host that still work on a job that they no longer hold.

A worker notices at its next write that its job was cancelled or went to another worker (`foilworks.core.jobs.lease`). A
computation that holds Python's lock never reaches that write, and also blocks the heartbeat's thread.
"""

import socket
from collections.abc import Collection
from uuid import UUID

from django_rq import get_connection
from rq import Worker

from foilworks.core.jobs.lease import worker_name
from foilworks.core.jobs.models import Job, JobState

# The holder of a job writes these states; after the last two it ends shortly.
OWN_STATES = frozenset({JobState.RUNNING, JobState.SPREAD, JobState.DONE})


def stray_jobs(pids: Collection[int]) -> dict[int, str]:
    """Map process ids to job ids, if the job was cancelled, deleted, failed, queued again or claimed by another.

    A worker that is about to take a job, or has just ended one, may be included for a moment. RedisError,
    DatabaseError: queue or database cannot be reached.
    """
    current = _current_jobs(pids)
    rows = Job.objects.in_bulk(set(current.values()))
    return {pid: str(job_id) for pid, job_id in current.items() if not holds(worker_name(pid), rows.get(job_id))}


def holds(worker: str, job: Job | None) -> bool:
    """Return whether the worker of this name holds the row, or has just ended it."""
    return job is not None and job.state in OWN_STATES and job.worker == worker


def _current_jobs(pids: Collection[int]) -> dict[int, UUID]:
    """Map each process id to its job, according to RQ."""
    workers = Worker.all(connection=get_connection("default"))
    own_workers = [
        worker
        for worker in workers
        if worker.pid in pids and worker.hostname == socket.gethostname() and worker.birth_date
    ]
    # A killed worker stays registered for a while, and another process may get its id: the youngest counts.
    by_pid = {worker.pid: worker for worker in sorted(own_workers, key=lambda worker: worker.birth_date)}
    return {pid: UUID(job_id) for pid, worker in by_pid.items() if (job_id := worker.get_current_job_id())}
