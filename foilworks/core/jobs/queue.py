"""Queue jobs as rows of the database. Redis carries only the row's id, after the commit.

So the rows are authoritative: messages that Redis lost or never received are pushed again from the rows. With a
RAY_ADDRESS, jobs of the gpu queue have no message at all: the engine of Ray reads their rows
(`foilworks.core.jobs.ray`).
"""

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from django_rq import get_connection, get_queue
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue, Worker
from rq.utils import as_text

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import OPEN_STATES, RAY_QUEUE, Job, JobState
from foilworks.core.jobs.names import require_job
from foilworks.core.jobs.trace import request_id

logger = logging.getLogger(__name__)

EXECUTE = "foilworks.core.jobs.runner.execute"
# After this many losses, the job itself probably kills its workers.
MAX_LOSSES = 5
# The message of a younger row may not have reached Redis yet.
PUSH_GRACE = timedelta(seconds=5)
# Seconds for which one process holds the lock on dispatching, unless it renews it.
DISPATCH_LOCK_TTL_S = 5.0
# The route of quick jobs, which need no model.
QUICK = "quick"


def enqueue(
    name: str,
    target_id: int,
    *,
    queue: str = "default",
    title: str = "",
    project_id: int | None = None,
    route: str = "",
    quick: bool = False,
    by_person: bool = True,
) -> Job:
    """Queue the job of this name (names.py): the row is part of the caller's transaction, Redis gets its id on commit.

    ``route``: the model that the job needs; workers with this model loaded take it first. On the gpu queue a project
    has at most GPU_QUOTA jobs dispatched; the others wait as rows.

    ``quick``: it takes seconds. Where a host has several workers of short jobs, one of them takes only such jobs.

    ``by_person``: a person requested it, and it may be refused; jobs that follow from other writes are never
    refused.

    JobError: no room declares the job, an unknown queue, or a project with as many
    open jobs as allowed (MAX_OPEN_JOBS_PER_PROJECT). A Redis that cannot be
    reached is not an error: the row waits for the next `foilworks up`.
    """
    require_job(name)
    if queue not in settings.RQ_QUEUES:
        raise JobError(f"there is no queue '{queue}'; choose one of: {', '.join(sorted(settings.RQ_QUEUES))}")
    if by_person and project_id is not None:
        require_room(project_id)
    job = Job.objects.create(
        dotted=name,
        target_id=target_id,
        queue=queue,
        title=title[:200],
        project_id=project_id,
        route=QUICK if quick else route,
        request_id=request_id(),
    )
    transaction.on_commit(partial(submit, [job]))
    return job


def require_room(project_id: int) -> None:
    """Check the project's number of open jobs. JobError: too many, which would block other projects."""
    max_jobs = settings.MAX_OPEN_JOBS_PER_PROJECT
    # Shards belong to a job that was accepted.
    open_jobs = Job.objects.filter(project_id=project_id, parent=None, state__in=OPEN_STATES)
    if max_jobs and open_jobs.count() >= max_jobs:
        words = _(
            "This project already has %(most)s open jobs. Wait until some are done, or stop the ones you do not need."
        )
        raise JobError(words % {"most": max_jobs})


def submit(jobs: Iterable[Job]) -> None:
    """Push jobs: all of them, or as many as a quota allows. Those that Ray runs need no message."""
    has_quota = False
    for job in jobs:
        if job.queue in ray_queues():
            continue
        if _quota(job.queue, job.project_id):
            has_quota = True
        else:
            push(job)
    if has_quota:
        dispatch(Job.objects.filter(queue="gpu"))


def ray_queues() -> tuple[str, ...]:
    """Return the queues that Ray runs: jobs that need neither the home nor the key of the web processes."""
    return (RAY_QUEUE,) if settings.RAY_ADDRESS else ()


def push(job: Job) -> bool:
    """Put the job's id on its queue; False if Redis cannot be reached."""
    try:
        # commit_mode: django-rq would wait for a commit again, and lose our id.
        _queue(job.queue, job.route).enqueue_call(
            EXECUTE, args=(str(job.pk),), job_id=str(job.pk), result_ttl=0, description=job.title or job.dotted
        )
    except RedisError as error:
        # Not a warning: the job may run here in a moment (`--sync`), and `no_worker_hint` informs people who wait.
        logger.info("job %s waits: cannot reach the queue (%s)", job.pk, error)
        return False
    return True


def is_reachable() -> bool:
    """Return whether Redis responds."""
    try:
        return bool(_queue("default").connection.ping())
    except RedisError:
        return False


def worker_count() -> int | None:
    """Count the workers that show a sign of life; None if Redis cannot be reached.

    `Worker.count` includes a killed worker until another one starts. In Redis an idle worker that was killed
    is gone after 77 seconds; a busy one, if the lease of its job ends.
    """
    try:
        alive = Worker.all(connection=_queue("default").connection)
        at_work = [job_id for worker in alive if (job_id := worker.get_current_job_id())]
    except RedisError:
        return None
    return len(alive) - _n_lost(at_work)


def _n_lost(job_ids: list[str]) -> int:
    """Return how many of these jobs, which workers hold according to Redis, have no worker according to their rows."""
    lost = Q(state=JobState.WAITING) | Q(state=JobState.RUNNING, lease_until__lt=Now())
    try:
        return Job.objects.filter(lost, pk__in=job_ids).count() if job_ids else 0
    except DatabaseError:
        return 0


def queue_lengths() -> dict[str, int] | None:
    """Return plain queue -> jobs waiting in it and its lanes; None if Redis cannot be reached."""
    try:
        connection = _queue("default").connection
        lanes = lanes_in_redis(connection, settings.RQ_QUEUES)
        prefix = Queue.redis_queue_namespace_prefix
        return {
            name: sum(connection.llen(prefix + queue_name) for queue_name in (name, *lanes[name])) for name in lanes
        }
    except RedisError:
        return None


def no_worker_hint(job: Job | None = None) -> str:
    """Return what runs a job that was queued for Ray, a hint if no worker is running, else an empty text."""
    if job is not None and job.is_for_ray:
        return f"Ray at {settings.RAY_ADDRESS} runs it: `foilworks worker --ray` must run on a node of the cluster"
    return "" if worker_count() else "no worker is running: start `foilworks worker` or `foilworks up`, or give --sync"


def cancel(job: Job) -> bool:
    """Cancel an open job and its shards. A running one ends at its next progress update. False: it was over."""
    over = {"state": JobState.CANCELLED, "finished_at": timezone.now(), "lease_until": None}
    with transaction.atomic():
        cancelled = Job.objects.filter(pk=job.pk, state__in=OPEN_STATES).update(**over)
        if cancelled:
            Job.objects.filter(parent_id=job.pk, state__in=OPEN_STATES).update(**over)
    return bool(cancelled)


def retry(job: Job) -> bool:
    """Queue a failed or cancelled job again. Its stored results stay. False: it was neither.

    Only shards that failed or were cancelled run again.
    """
    reset_fields = {"error": "", "finished_at": None, "announced_at": None, "losses": 0}
    stopped = [JobState.FAILED, JobState.CANCELLED]
    with transaction.atomic():
        shards = Job.objects.filter(parent_id=job.pk, state__in=stopped)
        state = JobState.SPREAD if shards.exists() else JobState.WAITING
        reopened = Job.objects.filter(pk=job.pk, state__in=stopped).update(state=state, message="", **reset_fields)
        if reopened:
            shards.update(state=JobState.WAITING, **reset_fields)
            ids = [job.pk, *Job.objects.filter(parent_id=job.pk).values_list("pk", flat=True)]
            transaction.on_commit(lambda: submit(Job.objects.filter(pk__in=ids, state=JobState.WAITING)))
    return bool(reopened)


def resume_parents(jobs: QuerySet[Job]) -> int:
    """Queue again the ``jobs`` whose shards are all over, so that they collect results. Return how many."""
    open_shards = Job.objects.filter(parent=OuterRef("pk"), state__in=OPEN_STATES)
    woken = 0
    for job in jobs.filter(~Exists(open_shards), state=JobState.SPREAD):
        # The last two shards may end at the same moment: only one of them resumes the job.
        if Job.objects.filter(pk=job.pk, state=JobState.SPREAD).update(state=JobState.WAITING):
            transaction.on_commit(partial(submit, [job]))
            woken += 1
    return woken


def update_progress(parent_id: object) -> None:
    """Update the progress of a spread job from its open shards and later stages."""
    remaining_steps = Job.objects.filter(parent_id=parent_id).aggregate(left=Sum(F("total") - F("done")))["left"] or 0
    payload = Job.objects.filter(pk=parent_id).values_list("payload", flat=True).first() or {}
    remaining_steps += payload.get("later", 0)
    Job.objects.filter(pk=parent_id, state=JobState.SPREAD, total__gte=remaining_steps).update(
        done=F("total") - remaining_steps
    )


def requeue_lost() -> int:
    """Push jobs again that should be on a queue but are not. Return how many.

    These are running jobs whose worker died (their lease has expired) and waiting ones that Redis does not have.
    A job that killed its worker MAX_LOSSES times fails instead. A duplicate push does no harm.
    """
    now = timezone.now()
    return_abandoned(Job.objects.filter(state=JobState.RUNNING, lease_until__lt=Now()))
    # A row from the future is from a host whose clock is wrong.
    fresh = Q(created_at__gte=now - PUSH_GRACE, created_at__lte=now + PUSH_GRACE)
    return dispatch(Job.objects.exclude(fresh), logging.WARNING)


def return_abandoned(abandoned: QuerySet[Job]) -> None:
    """Let the next worker take running jobs whose worker died; fail those that killed MAX_LOSSES workers."""
    abandoned.filter(losses__gte=MAX_LOSSES - 1).update(
        state=JobState.FAILED,
        losses=F("losses") + 1,
        finished_at=timezone.now(),
        lease_until=None,
        error=f"The worker died {MAX_LOSSES} times in this job. Check the worker's log (memory?), then retry.",
    )
    abandoned.update(state=JobState.WAITING, losses=F("losses") + 1, lease_until=None)
    resume_parents(Job.objects.all())


def dispatch(jobs: QuerySet[Job], level: int = logging.INFO) -> int:
    """Push waiting ``jobs`` that Redis does not have, within their project's quota. Return how many.

    A lock allows one process at a time, so that two of them do not use the same slot of a quota. A process that dies
    here, or whose Redis is killed, leaves a lock that expires soon.
    """
    rows = jobs.filter(state=JobState.WAITING).exclude(queue__in=ray_queues())
    waiting = list(rows.order_by("created_at", "number"))
    if settings.RAY_ADDRESS and not waiting:
        # Nodes of Ray need no Redis.
        return 0
    try:
        with _queue("default").connection.lock(
            "foilworks:dispatch", timeout=DISPATCH_LOCK_TTL_S, blocking_timeout=10
        ) as lock:
            queued_ids = {job_id for lane in _lanes() for job_id in _queue(*lane).job_ids}
            busy = _busy_by_project(queued_ids)
            pushed, held_at = 0, time.monotonic()
            for job in waiting:
                if time.monotonic() - held_at > DISPATCH_LOCK_TTL_S / 4:
                    lock.reacquire()
                    held_at = time.monotonic()
                limit = _quota(job.queue, job.project_id)
                if str(job.pk) in queued_ids or (limit and busy[job.project_id] >= limit):
                    continue
                busy[job.project_id] += bool(limit)
                pushed += push(job)
            return pushed
    except RedisError as error:
        logger.log(level, "cannot reach the queue (%s)", error)
        return 0


def lane_name(queue: str, route: str = "") -> str:
    """Return the name of a job's queue in Redis: one per model, and one for quick jobs, so that workers can choose."""
    if route == QUICK:
        return f"{queue}.{QUICK}"
    return f"{queue}.{hashlib.sha256(route.encode()).hexdigest()[:12]}" if route else queue


def lanes_in_redis(connection: Redis, queue_names: Iterable[str]) -> dict[str, list[str]]:
    """Return plain queue -> names of its non-empty lanes, in order."""
    prefix = Queue.redis_queue_namespace_prefix
    names = sorted(as_text(key).removeprefix(prefix) for key in connection.smembers(Queue.redis_queues_keys))
    names = [name for name in names if "." in name and connection.llen(prefix + name)]
    return {queue: [name for name in names if name.startswith(f"{queue}.")] for queue in queue_names}


def _lanes() -> set[tuple[str, str]]:
    """Return (queue, route) of all waiting jobs, and the plain queues."""
    routed = Job.objects.filter(state=JobState.WAITING).exclude(route="").values_list("queue", "route")
    return {*((name, "") for name in settings.RQ_QUEUES), *routed.distinct()}


def _quota(queue: str, project_id: int | None) -> int:
    """Return how many jobs of the project may be dispatched at once; 0: any number."""
    return settings.GPU_QUOTA if queue == "gpu" and project_id is not None else 0


def _busy_by_project(queued_ids: set[str]) -> Counter[int | None]:
    """Return project -> its jobs of the gpu queue that run, or wait in Redis."""
    rows = Job.objects.filter(queue="gpu", project_id__isnull=False).filter(
        Q(state=JobState.RUNNING) | Q(state=JobState.WAITING)
    )
    jobs = rows.values_list("pk", "project_id", "state")
    return Counter(project for pk, project, state in jobs if state == JobState.RUNNING or str(pk) in queued_ids)


def wait(jobs: Iterable[Job], *, timeout_s: float = 600.0, every_s: float = 0.2) -> list[Job]:
    """Wait until all jobs are over, and return their rows. JobError: a job failed or took too long."""
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
            raise JobError(
                f"{late} is not done after {timeout_s:.0f} s; check with `foilworks doctor` that a worker is running"
            )
        time.sleep(every_s)


def _queue(name: str, route: str = "") -> Queue:
    connection = get_connection(name)
    # People wait for a page: one attempt, since redis-py would retry for seconds.
    connection.set_retry(Retry(NoBackoff(), 0))
    rq_queue = get_queue(name, commit_mode="auto", connection=connection)
    if not route:
        return rq_queue
    return Queue(
        lane_name(name, route),
        connection=connection,
        default_timeout=rq_queue._default_timeout,
        serializer=rq_queue.serializer,
    )
