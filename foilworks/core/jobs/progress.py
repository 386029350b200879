"""Store the progress of a job for its page."""

import time
from collections.abc import Mapping
from typing import Any

from foilworks.core.jobs.lease import write
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import update_progress

# The page polls about once per second; more frequent writes only load the database.
EVERY_SECONDS = 0.5
MAX_MESSAGE_LENGTH = 300


def note(job: Job, message: str) -> None:
    """Show a message on the job's page at once, such as why it waits. Raises JobStopped as `progress` does."""
    write(job, message=message[:MAX_MESSAGE_LENGTH])


def progress(
    job: Job,
    done: int,
    total: int | None = None,
    message: str | None = None,
    measured: Mapping[str, Any] | None = None,
) -> None:
    """Report that `done` of `total` steps are done. Call it as often as convenient.

    It writes at most two times per second, and always at the first and last step; without a total, at each call. It
    renews the job's lease. Omitted values do not change. `measured`: the cost so far
    (`foilworks.core.jobs.models.Job.measured`). Raises `foilworks.core.jobs.lease.JobStopped` if the job was cancelled
    or given to another worker: do not catch it.
    """
    total = job.total if total is None else total
    message = job.message if message is None else message[:MAX_MESSAGE_LENGTH]
    now = time.monotonic()
    written_at = getattr(job, "_progress_written_at", None)
    if written_at is not None and now - written_at < EVERY_SECONDS and done < total:
        return
    job._progress_written_at = now  # type: ignore[attr-defined]
    also = {} if measured is None else {"measured": dict(measured)}
    write(job, done=done, total=total, message=message, **also)
    if job.parent_id is not None:
        update_progress(job.parent_id)
