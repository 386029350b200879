"""Run jobs in an actor of Ray: a process on any node, which keeps its model loaded between jobs.

The engine and Ray's workers import it, so it imports nothing of Django until an actor starts.
"""

import os
from collections.abc import Mapping
from typing import Any

SETTINGS = "DJANGO_SETTINGS_MODULE"


def variables(address: str, cpus: float, gpus: float) -> dict[str, str]:
    """Return what an actor sets in its environment: as many threads as it has CPUs, and no device that it lacks."""
    threads = max(1, int(cpus))
    found = {"RAY_ADDRESS": address, "OMP_NUM_THREADS": str(threads), "FOILWORKS_DECODERS": str(max(1, threads - 1))}
    return found if gpus else {**found, "FOILWORKS_DEVICE": "cpu"}


class JobActor:
    """One actor runs one job at a time.

    The address of the database and of the videos are those of the node's own environment: Ray carries no secrets.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        import django

        os.environ.update(variables)
        os.environ.setdefault(SETTINGS, "foilworks.settings")
        django.setup()

    def name(self) -> str:
        """Return the name under which rows list this process. DatabaseError: the node does not reach the database."""
        from django.db import connection

        from jobs.lease import worker_name

        connection.ensure_connection()
        return worker_name()

    def run(self, job_id: str) -> None:
        """Run the job with this id. Its errors are stored in its row, and raised again for the log."""
        from jobs.runner import execute

        execute(job_id)


def remote_class() -> Any:
    """Return the actor as Ray starts it. It never restarts one: the rows say what runs again."""
    import ray

    return ray.remote(max_restarts=0, max_task_retries=0, max_concurrency=1)(JobActor)
