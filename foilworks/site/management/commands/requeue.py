"""`foilworks requeue`: requeue jobs that the database lists but the queue has lost."""

from typing import Any

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.queue import is_reachable, requeue_lost
from foilworks.site.management.base import FoilworksCommand


class Command(FoilworksCommand):
    help = "requeue jobs that a lost worker held or that Redis lost"
    example = "foilworks requeue --json"

    def run(self, **options: Any) -> dict[str, Any]:
        if not is_reachable():
            raise JobError("cannot reach the queue; start `foilworks up`, or the Redis at REDIS_URL")
        requeued = requeue_lost()
        self.say_if_no_worker()
        return {"requeued": requeued}

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['requeued']} jobs requeued"
