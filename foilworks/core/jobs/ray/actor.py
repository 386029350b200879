"""Run jobs in an actor of Ray: a process on any node, which keeps its model loaded between jobs.

The engine and Ray's workers import it, so it imports nothing of Django until an actor starts.
"""

import os
from collections.abc import Mapping
from typing import Any


def variables(address: str, settings_module: str, decoders: int, cpus: float, gpus: float) -> dict[str, str]:
    """Return an actor's additions to its node's environment: threads for its CPUs, and no device that it lacks.

    `settings_module`: the engine's. `decoders`: clips that others decode for it at once. One of its threads waits for
    each of them.
    """
    threads = max(1, int(cpus))
    return {
        "RAY_ADDRESS": address,
        "DJANGO_SETTINGS_MODULE": settings_module,
        "OMP_NUM_THREADS": str(threads),
        "RAY_DECODERS": str(decoders),
        "FOILWORKS_DECODERS": str(decoders or max(1, threads - 1)),
        **({} if gpus else {"FOILWORKS_DEVICE": "cpu"}),
    }


class JobActor:
    """One actor runs one job at a time.

    The addresses of the database and of the videos are those of the node's own environment: Ray carries no secrets.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        import django

        # The settings read them now. Ray would need a new process for variables of its own.
        os.environ.update(variables)
        django.setup()

    def name(self) -> str:
        """Return the name under which rows list this process. DatabaseError: the node does not reach the database."""
        from django.db import connection

        from foilworks.core.jobs.lease import worker_name

        connection.ensure_connection()
        return worker_name()

    def run(self, job_id: str) -> None:
        """Run the job with this id. Its errors are stored in its row, and raised again for the log."""
        from foilworks.core.jobs.runner import execute

        execute(job_id)


def remote_class() -> Any:
    """Return the actor as Ray starts it. It never restarts one: the rows say what runs again."""
    import ray

    return ray.remote(max_restarts=0, max_task_retries=0, max_concurrency=1)(JobActor)
