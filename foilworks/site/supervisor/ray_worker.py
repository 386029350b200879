"""Run jobs on Ray from a process: `python -m foilworks.site.supervisor.ray_worker SLOTS [burst]`.

The supervisor starts it, and starts it again when it dies. Its jobs return to waiting when their leases end.
"""

import logging
import signal
import sys
import threading

import django

from foilworks.site.server.gc_freeze import lasting


def main(slots: int, *, burst: bool) -> None:
    with lasting():
        django.setup()
        # The tables exist only now.
        from foilworks.core.jobs.errors import JobError
        from foilworks.core.jobs.ray.engine import RayEngine

    stopped = threading.Event()
    try:
        with RayEngine(slots) as engine:
            # Ray sets handlers of its own.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: stopped.set())
            engine.work(stopped, burst=burst)
    except JobError as error:
        logging.getLogger(__name__).error("%s", error)
        sys.exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), burst="burst" in sys.argv[2:])
