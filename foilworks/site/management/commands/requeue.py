"""`foilworks requeue`: requeue jobs that the database lists but the queue has lost."""

from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import is_reachable, requeue_lost, retry
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import run_or_queue


class Command(FoilworksCommand):
    help = "requeue jobs that a lost worker held or that Redis lost, or continue one stopped job"
    example = "foilworks requeue --json\n  foilworks requeue 0d2f5c1e-8f0e-4a53-9a0b-5a1c3d7e9f10 --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", nargs="?", type=UUID, metavar="JOB", help="continue this stopped or failed job")
        parser.add_argument("--sync", action="store_true", help="run it now instead of queueing it")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["job"]:
            job = Job.objects.filter(pk=options["job"], parent=None).first()
            if job is None or not retry(job):
                raise JobError(f"job {options['job']} is neither stopped nor failed; see the page of its run")
            return {"requeued": 1, **run_or_queue(self, job, options["sync"])}
        if not is_reachable():
            raise JobError("cannot reach the queue; start `foilworks up`, or the Redis at REDIS_URL")
        requeued = requeue_lost()
        self.say_if_no_worker()
        return {"requeued": requeued}

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['requeued']} jobs requeued"
