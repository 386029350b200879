"""The process in which jobs run: `python -m foilworks.supervisor.engine [QUEUE…]`. It keeps its model loaded.

The supervisor starts it, and starts it again when it dies; what it was at goes back to the queue when its lease ends.
"""

import logging
import sys

import django
from django.conf import settings


def main(queues: list[str]) -> None:
    django.setup()
    # The tables are there only now.
    from django_rq import get_queue
    from redis.exceptions import ConnectionError as NoRedis

    from foilworks.settled import settle
    from jobs.engine import Engine

    plain = [get_queue(name) for name in queues or sorted(settings.RQ_QUEUES)]
    engine = Engine(plain, connection=plain[0].connection, serializer=plain[0].serializer)
    settle()
    try:
        engine.work(logging_level="WARNING")
    except NoRedis as error:
        logging.getLogger(__name__).error("the queue cannot be reached (%s)", error)
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
