"""Run jobs in a process: `python -m foilworks.site.supervisor.worker [QUEUE…]`. It keeps its model loaded.

`default.quick` as the only queue: it takes only quick jobs.

The supervisor starts it, and starts it again when it dies. Its job returns to the queue when the lease ends.
"""

import logging
import sys
from types import ModuleType

import django
from django.conf import settings

from foilworks.site.server.gc_freeze import lasting


def main(queues: list[str]) -> None:
    with lasting():
        django.setup()
        # The tables exist only now.
        from django_rq import get_queue
        from redis.exceptions import ConnectionError as NoRedis
        from rq import Queue

        from foilworks.core.jobs.affinity_worker import ModelAffinityWorker

        import_jobs()

    first = get_queue("default")
    shared = {"connection": first.connection, "serializer": first.serializer}
    plain = [Queue(name, **shared) for name in queues or sorted(settings.RQ_QUEUES)]
    engine = ModelAffinityWorker(plain, **shared)
    try:
        engine.work(logging_level="WARNING")
    except NoRedis as error:
        logging.getLogger(__name__).error("the queue cannot be reached (%s)", error)
        sys.exit(1)


def import_jobs() -> tuple[ModuleType, ...]:
    """Import the functions of most jobs before the first one runs; a job loads models and their libraries itself."""
    from annotation import jobs as annotation_jobs
    from evaluation.scoring import jobs as scoring_jobs
    from generation import jobs as generation_jobs

    return annotation_jobs, scoring_jobs, generation_jobs


if __name__ == "__main__":
    main(sys.argv[1:])
