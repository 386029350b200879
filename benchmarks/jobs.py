"""Define the background jobs that benchmarks queue."""

import time
from importlib import import_module

from foilworks.core.jobs.models import OPEN_STATES, Job

LOOK_S = 0.1


def meet(target_id: int, job: Job) -> None:
    """Keep this worker, with the modules of descriptions loaded, until other jobs are queued."""
    import_module("evaluation.utd.describing")
    while not Job.objects.exclude(dotted=job.dotted).filter(state__in=OPEN_STATES).exists():
        time.sleep(LOOK_S)
