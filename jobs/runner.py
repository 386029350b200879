"""The one function that the queue calls. It runs a job at most once at a time and writes down how it ended."""

import logging
from types import TracebackType

from django.db import close_old_connections, connection
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.lease import Heartbeat, JobStopped, claim, write
from jobs.models import Job, JobState
from jobs.queue import wait
from text.errors import ActionableError

LONGEST_SECONDS = 24 * 3600.0

logger = logging.getLogger(__name__)


def execute(job_id: str) -> None:
    """Run the job of this id: ``function(target_id, job)``.

    Nothing happens when the job is over or another worker holds it, so a message that Redis delivers twice does no
    harm. An error is written to the row and goes on to the caller (RQ keeps its traceback; `run_now` shows it).
    """
    if not connection.in_atomic_block:
        close_old_connections()
    job = claim(job_id)
    if job is None:
        logger.info("job %s: nothing to do", job_id)
        return
    with _Recorded(job), Heartbeat(job):
        function = import_string(job.dotted)
        function(job.target_id, job)


def run_now(job: Job) -> Job:
    """Run a queued job in this process (`--sync`, tests) and return its row as it ended; errors are raised.

    Where a worker was faster, its end is waited for; JobError if the job failed or was cancelled there.
    """
    execute(str(job.pk))
    (ended,) = wait([job], timeout_s=LONGEST_SECONDS)
    return ended


class _Recorded:
    """Writes the end of an attempt to its row, whatever the end was. It hides no error: only JobStopped, which is
    an end that somebody else has already written, stops here."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __enter__(self) -> None:
        job = self._job
        logger.info("job %s: %s(%s), attempt %s", job.pk, job.dotted, job.target_id, job.attempts)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, JobStopped) or not self._write_end(error):
            logger.info("job %s: stopped, its row belongs to somebody else", self._job.pk)
            return error is None or isinstance(error, JobStopped)
        return False

    def _write_end(self, error: BaseException | None) -> bool:
        try:
            write(self._job, **_end_of(self._job, error))
        except JobStopped:
            return False
        return True


def _end_of(job: Job, error: BaseException | None) -> dict[str, object]:
    over = {"finished_at": timezone.now(), "lease_until": None}
    if error is None:
        return {**over, "state": JobState.DONE, "done": max(job.done, job.total)}
    if not isinstance(error, Exception):
        # The worker is being stopped, not the job failing: it waits for the next worker.
        return {"state": JobState.WAITING, "lease_until": None}
    if isinstance(error, ActionableError):
        return {**over, "state": JobState.FAILED, "error": str(error)}
    logger.error("job %s failed", job.pk, exc_info=error)
    plain = f"Something went wrong inside Foilworks ({type(error).__name__}). The worker's log has the details."
    return {**over, "state": JobState.FAILED, "error": plain}
