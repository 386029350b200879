"""Run the job of a command at once, or leave it to a worker."""

from typing import Any

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand


def run_or_queue(command: FoilworksCommand, job: Job | None, sync: bool) -> dict[str, Any]:
    """Return id and state of the job, or {} without a job. Prints a hint if no worker would run it."""
    if job is None:
        return {}
    if sync:
        job = run_now(job)
    else:
        command.say_if_no_worker(job)
    return {"job": str(job.pk), "state": job.state}
