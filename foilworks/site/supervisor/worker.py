"""Run jobs in a process: `python -m foilworks.site.supervisor.worker [QUEUE…]`. It keeps its model loaded.

The supervisor starts it, and starts it again when it dies. Its job returns to the queue when the lease ends.
"""

import logging
import sys
from importlib import import_module

import django
from django.conf import settings

from foilworks.site.server.lasting import lasting

# These contain the functions of jobs; a job loads models and their libraries itself.
JOBS = ("annotation.jobs", "evaluation.scoring.jobs", "generation.jobs")


def main(queues: list[str]) -> None:
    with lasting():
        django.setup()
        # The tables exist only now.
        from django_rq import get_queue
        from redis.exceptions import ConnectionError as NoRedis

        from foilworks.core.jobs.affinity_worker import ModelAffinityWorker

        for name in JOBS:
            import_module(name)

    plain = [get_queue(name) for name in queues or sorted(settings.RQ_QUEUES)]
    engine = ModelAffinityWorker(plain, connection=plain[0].connection, serializer=plain[0].serializer)
    try:
        engine.work(logging_level="WARNING")
    except NoRedis as error:
        logging.getLogger(__name__).error("the queue cannot be reached (%s)", error)
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
