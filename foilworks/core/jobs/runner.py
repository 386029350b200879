"""Run jobs. The queue calls `execute`, which runs a job at most once at a time and stores how it ended."""

import errno
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from django.db import close_old_connections, connection
from django.utils import timezone

from foilworks.core.jobs.lease import ABANDONED, NO_DATABASE, Heartbeat, JobStopped, claim, write
from foilworks.core.jobs.models import OPEN_STATES, Job, JobState
from foilworks.core.jobs.names import find_job
from foilworks.core.jobs.queue import MAX_LOSSES, cancel, dispatch, resume_parents, update_progress, wait
from foilworks.core.jobs.spread import Partly, QueueRunner, Spread, spread
from foilworks.core.jobs.trace import working_on
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.plugins import failure_of
from foilworks.core.text.quoting import shortened

MAX_SECONDS = 24 * 3600.0
LOOK_EVERY_SECONDS = 0.2
# A shard raises only general errors (it lists those of single items): after this many, the others would fail, too.
MAX_FAILED_SHARDS = 3
MAX_MESSAGE = 300
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

logger = logging.getLogger(__name__)


def execute(job_id: str) -> None:
    """Run the job with this id: ``function(target_id, job)``. If it returns a `Spread`, its shards continue.

    Nothing happens if the job is over or another worker holds it, so a message that Redis delivers twice does no
    harm. An error is stored in the row and raised again (RQ stores its traceback; `run_now` shows it).
    """
    if not connection.in_atomic_block:
        close_old_connections()
    job = claim(job_id)
    if job is None:
        logger.info("job %s: nothing to do", job_id)
        return
    with working_on(job.request_id, str(job.pk)), _Recorded(job) as recorded, Heartbeat(job):
        recorded.returned = find_job(job.dotted)(job.target_id, job)


def run_now(job: Job) -> Job:
    """Run a queued job in this process (`--sync`, tests), and return its final row. Errors are raised.

    Its shards also run here, unless a worker takes them. If a worker was faster, wait for its end;
    JobError: the job failed or was cancelled there. JobInterrupted: SIGINT, SIGTERM or SIGHUP stopped it, here and on
    the workers.
    """
    try:
        with _on_signals(_interrupt):
            execute(str(job.pk))
            # One pass per stage (`foilworks.core.jobs.shards`).
            while Job.objects.filter(pk=job.pk, state=JobState.SPREAD).exists():
                _do_shards(job)
                execute(str(job.pk))
            (finished_job,) = wait([job], timeout_s=MAX_SECONDS)
            return finished_job
    except KeyboardInterrupt as interrupt:
        # A second Ctrl-C must not leave the job to a worker.
        with _on_signals(signal.SIG_IGN):
            if not connection.in_atomic_block:
                # It may have come in the middle of a statement.
                connection.close()
            cancel(job)
            job.refresh_from_db()
        raise JobInterrupted(
            f"stopped after {job.done} of {job.total} steps, which are stored; to continue, run "
            f"`foilworks requeue {job.pk}`"
        ) from interrupt


class JobInterrupted(KeyboardInterrupt):
    """A signal stopped a job of this process. The message says how to resume it."""


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _on_signals(handler: Callable[..., None] | signal.Handlers) -> Iterator[None]:
    """Handle SIGTERM and SIGHUP as SIGINT: otherwise a worker would continue a killed command's job."""
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if is_main else ()
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _do_shards(job: Job) -> None:
    """Run the shards. An error of one ends the job, since nothing would run the others."""
    runner, is_finished = InProcessRunner(), False
    try:
        runner.submit(list(job.shards.all()))
        for _ in runner.collect(job):
            pass
        is_finished = True
    finally:
        if not is_finished and cancel(job):
            failed = job.shards.filter(state=JobState.FAILED).first()
            if failed is not None:
                Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, error=failed.error)


class InProcessRunner:
    """A `Runner` in this process: one shard after the other, except those that others hold."""

    def submit(self, shards: Sequence[Job]) -> None:
        """Do nothing: `collect` finds the shards in the table."""

    def collect(self, job: Job) -> Iterator[Job]:
        finished_ids: set[object] = set()
        while True:
            rows = list(job.shards.order_by("number"))
            for row in rows:
                if row.state == JobState.WAITING or (row.state == JobState.RUNNING and _is_abandoned(row)):
                    execute(str(row.pk))
                    row.refresh_from_db()
                if row.is_over and row.pk not in finished_ids:
                    finished_ids.add(row.pk)
                    yield row
            if not job.shards.filter(state__in=OPEN_STATES).exists() and len(finished_ids) == len(rows):
                return
            if any(row.state == JobState.RUNNING for row in rows):
                time.sleep(LOOK_EVERY_SECONDS)


def _is_abandoned(job: Job) -> bool:
    return Job.objects.filter(ABANDONED, pk=job.pk).exists()


class _Recorded:
    """Store the end of an attempt in its row. Errors are raised again, except JobStopped, which is
    an end that another process has already stored."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.returned: object = None

    def __enter__(self) -> "_Recorded":
        job = self._job
        logger.info("job %s: %s(%s), attempt %s", job.pk, job.dotted, job.target_id, job.attempts)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, JobStopped) or not self._write_end(error):
            logger.info("job %s: stopped, another attempt holds its row", self._job.pk)
            return error is None or isinstance(error, JobStopped)
        outcome = "its shards continue" if isinstance(self.returned, Spread) else "done"
        logger.info("job %s: %s", self._job.pk, "failed" if error else outcome)
        return False

    def _write_end(self, error: BaseException | None) -> bool:
        if not connection.in_atomic_block:
            # The connection may be broken: store the end with a new one.
            close_old_connections()
        try:
            if error is None and isinstance(self.returned, Spread):
                spread(self._job, self.returned, QueueRunner())
                return True
            write(self._job, **_end_of(self._job, error, self.returned))
        except JobStopped:
            return False
        _make_room(self._job)
        return True


def _make_room(job: Job) -> None:
    """Push the next jobs after this attempt: the parent of a shard, or another job of the project."""
    if job.parent_id is not None:
        failed = Job.objects.filter(parent_id=job.parent_id, state=JobState.FAILED).count()
        if failed >= MAX_FAILED_SHARDS:
            waiting = Job.objects.filter(parent_id=job.parent_id, state=JobState.WAITING)
            waiting.update(state=JobState.CANCELLED, finished_at=timezone.now())
        update_progress(job.parent_id)
        resume_parents(Job.objects.filter(pk=job.parent_id))
    if job.queue == "gpu" and job.state != JobState.WAITING:
        dispatch(Job.objects.filter(queue="gpu", project_id=job.project_id))


def _end_of(job: Job, error: BaseException | None, returned: object) -> dict[str, object]:
    over = {"finished_at": timezone.now(), "lease_until": None}
    if error is None and isinstance(returned, Partly):
        message = shortened(returned.why, MAX_MESSAGE)
        return {**over, "state": JobState.PARTLY, "done": max(job.done, job.total), "message": message}
    if error is None:
        return {**over, "state": JobState.DONE, "done": max(job.done, job.total)}
    if not isinstance(error, Exception):
        # The worker is stopping, the job did not fail. It waits for the next worker.
        return {"state": JobState.WAITING, "lease_until": None}
    if isinstance(error, NO_DATABASE) and job.losses < MAX_LOSSES - 1:
        return {"state": JobState.WAITING, "losses": job.losses + 1, "lease_until": None}
    if isinstance(error, ActionableError):
        return {**over, "state": JobState.FAILED, "error": str(error)}
    logger.error("job %s failed", job.pk, exc_info=error)
    if isinstance(error, OSError) and error.errno in FULL:
        full = f"The disk of the worker's host is full ({job.worker}). Free space there, then retry the job."
        return {**over, "state": JobState.FAILED, "error": full}
    if failed := failure_of(error):
        return {**over, "state": JobState.FAILED, "error": f"{failed[0].upper()}{failed[1:]}."}
    error_text = f"Internal error of Foilworks ({type(error).__name__}). The worker's log has the details."
    return {**over, "state": JobState.FAILED, "error": error_text}
