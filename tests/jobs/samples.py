"""Jobs that tests queue (declarations.py, tests/settings.py)."""

import errno
import json
import os
import signal
import time

from django.db import OperationalError
from django_rq import get_queue

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.spread import Spread
from foilworks.core.jobs.stray_workers import stray_jobs


def count(target_id: int, job: Job) -> None:
    """Count to ``target_id``."""
    for done in range(target_id + 1):
        progress(job, done, target_id, f"{done} counted")


def refuse(target_id: int, job: Job) -> None:
    raise JobError(f"video {target_id} has no file; attach one")


def stumble(target_id: int, job: Job) -> None:
    raise ZeroDivisionError("a secret of the implementation")


def lose_the_database(target_id: int, job: Job) -> None:
    """As a query says it whose server was killed; ``target_id`` attempts end so."""
    if job.attempts <= target_id:
        raise OperationalError("server closed the connection unexpectedly")


def fill_the_disk(target_id: int, job: Job) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def be_interrupted(target_id: int, job: Job) -> None:
    """What RQ raises in a worker that is told twice to stop."""
    progress(job, 1, 4)
    raise SystemExit


def be_signalled(target_id: int, job: Job) -> None:
    """The first attempt's process gets the signal ``target_id``, as a command does that somebody stops."""
    progress(job, 1, 4)
    if job.attempts == 1:
        os.kill(os.getpid(), target_id)
        time.sleep(60)


def kill_the_worker_once(target_id: int, job: Job) -> None:
    """The process dies at the first attempt, without any chance to write down that it did."""
    if job.attempts == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def hold_the_lock_once(target_id: int, job: Job) -> None:
    """The first attempt computes in C for years, without giving Python's lock to another thread."""
    if job.attempts == 1:
        sum(range(10**18))


def end_like_a_second_delivery(target_id: int, job: Job) -> None:
    """Delete the job's message, as another worker does that ends the same message first."""
    get_queue(job.queue).fetch_job(str(job.pk)).delete()


def change_hands(target_id: int, job: Job) -> None:
    """Ask in each state of the row whether this process works on a job that it lost; the message has the answers."""
    found = []
    for change in ({}, {"state": "cancelled"}, {"state": "waiting"}, {"state": "failed"}, {"worker": "other:1"}):
        Job.objects.filter(pk=job.pk).update(**{"state": "running", "worker": job.worker, **change})
        found.append(stray_jobs([os.getpid(), 1]) == {os.getpid(): str(job.pk)})
    Job.objects.filter(pk=job.pk).update(state="running", worker=job.worker)
    progress(job, 1, 1, json.dumps(found))


def wait_long(target_id: int, job: Job) -> None:
    for done in range(600):
        progress(job, done, 600)
        time.sleep(0.1)


def in_parts(target_id: int, job: Job) -> Spread | None:
    """As many shards as ``target_id`` says; of a negative number the second shard fails."""
    if job.shards.exists():
        ended = [shard for shard in job.shards.all() if shard.state == "done"]
        progress(job, job.done, job.total, f"collected {len(ended)} of {job.shards.count()}, {job.payload['told']}")
        return None
    progress(job, 0, 10 * abs(target_id))
    parts = [({"part": number}, 10) for number in range(1, abs(target_id) + 1)]
    return Spread("samples.part", parts, {"told": "carried too"})


def part(target_id: int, job: Job) -> None:
    if target_id < 0 and job.payload["part"] == 2:
        raise JobError("part 2 has no file")
    progress(job, job.total, measured={"compute": 0.5})


def meet(target_id: int, job: Job) -> None:
    """Keep this worker, with the modules of descriptions loaded, until other jobs are queued."""
    import evaluation.utd.describing  # noqa: F401

    while not Job.objects.exclude(dotted=job.dotted).filter(state__in=OPEN_STATES).exists():
        time.sleep(0.1)
