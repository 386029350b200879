"""Work is queued as a row of the database; Redis carries nothing but the row's id, after the commit.

So the row is the truth: what Redis lost, or never got because it was away, is pushed again from the rows.
"""

import logging
import re
import time
from collections.abc import Iterable
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_rq import get_connection, get_queue
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue, Worker

from jobs.errors import JobError
from jobs.models import Job, JobState

logger = logging.getLogger(__name__)

EXECUTE = "jobs.runner.execute"
# "generation.jobs.run_generation": jobs live in an app's jobs module, nothing else can be named.
DOTTED = re.compile(r"[a-z_]+\.jobs(\.[a-z_][a-z0-9_]*)+")
MAX_ATTEMPTS = 5
# A row younger than this may still be on its way to Redis.
PUSH_GRACE = timedelta(seconds=5)


def enqueue(
    dotted: str, target_id: int, *, queue: str = "default", title: str = "", project_id: int | None = None
) -> Job:
    """Queue ``dotted(target_id, job)``: the row is part of the caller's transaction, Redis hears of it on commit.

    Raises JobError for a function outside an app's jobs module and for an unknown queue. A Redis that cannot be
    reached is no error: the row waits, and the next `foilworks up` takes it.
    """
    if not DOTTED.fullmatch(dotted):
        raise JobError(f"'{dotted}' is no job; name a function of an app's jobs module, such as corpus.jobs.probe")
    if queue not in settings.RQ_QUEUES:
        raise JobError(f"there is no queue '{queue}'; choose one of: {', '.join(sorted(settings.RQ_QUEUES))}")
    job = Job.objects.create(
        dotted=dotted, target_id=target_id, queue=queue, title=title[:200], project_id=project_id
    )
    transaction.on_commit(partial(push, job))
    return job


def push(job: Job) -> bool:
    """Put the job's id on its queue; False where Redis cannot be reached."""
    try:
        # commit_mode: django-rq would wait for a commit again, and lose the id that we give.
        _queue(job.queue).enqueue_call(
            EXECUTE, args=(str(job.pk),), job_id=str(job.pk), result_ttl=0, description=job.title or job.dotted
        )
    except RedisError as error:
        # No warning: the job may run here in a moment (`--sync`), and `nobody_works` tells those who wait.
        logger.info("job %s waits: the queue cannot be reached (%s)", job.pk, error)
        return False
    return True


def is_reachable() -> bool:
    """Whether Redis answers."""
    try:
        return bool(_queue("default").connection.ping())
    except RedisError:
        return False


def worker_count() -> int | None:
    """How many workers listen to the queues; None where Redis cannot be reached."""
    try:
        return int(Worker.count(connection=_queue("default").connection))
    except RedisError:
        return None


def nobody_works() -> str:
    """What to tell somebody whose job was queued while no worker listens; empty where one does."""
    return "" if worker_count() else "no worker is running: `foilworks up` starts them, or give --sync"


def cancel(job: Job) -> bool:
    """Stop a waiting or running job for good; a running one ends at its next note of progress. False if it was over."""
    open_states = [JobState.WAITING, JobState.RUNNING]
    rows = Job.objects.filter(pk=job.pk, state__in=open_states)
    return bool(rows.update(state=JobState.CANCELLED, finished_at=timezone.now(), lease_until=None))


def retry(job: Job) -> bool:
    """Queue a failed or cancelled job again; what it stored is kept. False if it was neither."""
    rows = Job.objects.filter(pk=job.pk, state__in=[JobState.FAILED, JobState.CANCELLED])
    with transaction.atomic():
        reopened = rows.update(state=JobState.WAITING, error="", message="", finished_at=None, attempts=0)
        if reopened:
            transaction.on_commit(partial(push, job))
    return bool(reopened)


def requeue_lost() -> int:
    """Push every job again that should be on a queue and is not, and return how many.

    Lost are running jobs whose worker died (their lease has run out) and waiting ones that Redis does not know.
    A job that took its worker down MAX_ATTEMPTS times is failed instead. Pushing one too many does no harm.
    """
    now = timezone.now()
    abandoned = Job.objects.filter(state=JobState.RUNNING, lease_until__lt=now)
    abandoned.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=JobState.FAILED,
        finished_at=now,
        lease_until=None,
        error=f"Its worker died {MAX_ATTEMPTS} times doing this; see the worker's log (memory?), then retry.",
    )
    abandoned.update(state=JobState.WAITING, lease_until=None)
    waiting = Job.objects.filter(state=JobState.WAITING, created_at__lt=now - PUSH_GRACE).order_by("created_at")
    try:
        known = {job_id for name in settings.RQ_QUEUES for job_id in _queue(name).job_ids}
    except RedisError as error:
        logger.warning("the queue cannot be reached (%s)", error)
        return 0
    return sum(push(job) for job in waiting if str(job.pk) not in known)


def wait(jobs: Iterable[Job], *, timeout_s: float = 600.0, every_s: float = 0.2) -> list[Job]:
    """Wait until all jobs are over and return their rows; JobError names the first that failed or took too long."""
    ids = [job.pk for job in jobs]
    until = time.monotonic() + timeout_s
    while True:
        rows = Job.objects.in_bulk(ids)
        for row in rows.values():
            if row.state in {JobState.FAILED, JobState.CANCELLED}:
                raise JobError(f"{row}: {row.error or 'it was cancelled'}")
        if all(row.is_over for row in rows.values()):
            return [rows[pk] for pk in ids]
        if time.monotonic() > until:
            late = next(row for row in rows.values() if not row.is_over)
            raise JobError(f"{late} is not over after {timeout_s:.0f} s; is a worker running? see `foilworks doctor`")
        time.sleep(every_s)


def _queue(name: str) -> Queue:
    connection = get_connection(name)
    # Callers are people waiting for a page: one attempt, where redis-py would retry for seconds.
    connection.set_retry(Retry(NoBackoff(), 0))
    return get_queue(name, commit_mode="auto", connection=connection)
