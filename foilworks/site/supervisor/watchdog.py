"""Replace a worker that still runs a job which it no longer holds."""

import logging
import time
from collections.abc import Sequence

from django.conf import settings
from django.db import connections

from foilworks.core.jobs.stray_workers import stray_jobs
from foilworks.site.supervisor.processes import PythonChild

logger = logging.getLogger(__name__)

# A worker has this long to notice that its job was cancelled or went to another worker.
GRACE_S = settings.JOB_LEASE_SECONDS / 2


class Watchdog:
    """Watch the workers that a supervisor started; its thread calls `look` repeatedly."""

    def __init__(self, workers: Sequence[PythonChild]) -> None:
        self._workers = workers
        # (process id, job id) -> when it was first seen.
        self._since: dict[tuple[int, str], float] = {}

    def look(self) -> None:
        """Replace each worker that has run such a job for longer than `GRACE_S`.

        Raises errors as `stray_jobs` does, and OSError if no process can be started: the supervisor retries.
        """
        workers = {worker.pid: worker for worker in self._workers if worker.pid is not None and worker.is_alive()}
        now = time.monotonic()
        try:
            self._since = {stray: self._since.get(stray, now) for stray in stray_jobs(workers).items()}
        finally:
            connections.close_all()
        for (pid, job_id), since in self._since.items():
            if now - since >= GRACE_S:
                name = workers[pid].name
                logger.warning("%s (process %s) is replaced: it works on job %s, which it lost", name, pid, job_id)
                workers[pid].stop(patience_s=GRACE_S / 4)
                workers[pid].start()
