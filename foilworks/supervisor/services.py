"""What runs beside a command: the queue and its workers, and for `foilworks up` the web server."""

import http.client
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connections

from evaluation.imports.actions.discard_stale_imports import discard_stale_imports, remove_partial_uploads
from evaluation.publishing.actions.submit_scores import expire_submissions
from foilworks.supervisor.embedded_redis import EmbeddedRedis
from foilworks.supervisor.errors import SupervisorError
from foilworks.supervisor.lock import FolderLock
from foilworks.supervisor.processes import ManagedProcess, PythonChild, Supervisor
from foilworks.supervisor.watchdog import Watchdog
from jobs.queue import is_reachable, requeue_lost
from projects.tokens import forget_old_answers
from projects.webhooks import queue_due

logger = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
READY_SECONDS = 60.0
# A process takes up a request when it has a thread for it; the others wait where every process finds them. Connections
# that stay open would stay with the process that took them first, busy as it may be (decision 57).
# The pages are loaded once (--preload): a process that is lost comes back in a moment, and both share the memory. An
# installation whose service manager reloads new code leaves that away (docs/deploy.md).
GUNICORN = "--config python:foilworks.web_server --preload"
WAITING = 1024
CHORE_SECONDS = settings.JOB_LEASE_SECONDS / 4


def up_lock() -> FolderLock:
    """Held by the `foilworks up` of this home; its note says where it serves."""
    return FolderLock(settings.FOILWORKS_HOME / "run" / "up.lock")


def log_folder() -> Path:
    return settings.FOILWORKS_HOME / "logs"


@contextmanager
def services(*, workers: int = 1, to_logs: bool = True, extra: tuple[ManagedProcess, ...] = ()) -> Iterator[Supervisor]:
    """Run the queue and ``workers`` workers for as long as the block runs; jobs lost earlier are pushed again.

    With REDIS_URL set, that Redis is used; else the home's embedded one is started, or shared where another process
    of this home runs it already, until that one ends and it is started here. ``to_logs``: children write to
    ``HOME/logs``, else to our standard error. ``extra`` children run beside them.
    """
    redis = None if settings.REDIS_URL else EmbeddedRedis(settings.FOILWORKS_HOME)
    try:
        engines = _workers(workers, to_logs)
        children = [*([redis] if redis else []), *engines, *extra]
        chores = (_look_after, Watchdog(engines).look)
        with Supervisor(children, chores=chores, chore_every_s=CHORE_SECONDS) as supervisor:
            yield supervisor
    finally:
        if redis:
            redis.release()


def serve(*, port: int, workers: int, say: Callable[[str], None]) -> str:
    """Bring the tables up to date, run everything, ``say`` the address, and return it after SIGINT or SIGTERM.

    Port 0 takes a free one. SupervisorError when the home is served already or the port is taken.
    """
    lock = up_lock()
    if not lock.acquire():
        raise SupervisorError(
            f"Foilworks already runs for {settings.FOILWORKS_HOME} ({lock.holder()}); stop it there, "
            "or set FOILWORKS_HOME to another folder"
        )
    with lock, _listening(port) as listener:
        address = f"http://{LOCAL}:{listener.getsockname()[1]}/"
        lock.note(f"{lock.holder()}, {address}")
        call_command("migrate", verbosity=0, interactive=False)
        with _stop_signals() as stopped, services(workers=workers, to_logs=False, extra=(_web(listener),)):
            _wait_for_the_web(listener.getsockname()[1], stopped)
            if not stopped.is_set():
                say(f"Foilworks is at {address} (Ctrl-C stops it)")
            stopped.wait()
            say("stopping")
    return address


def _workers(count: int, to_logs: bool) -> list[PythonChild]:
    # One worker takes the gpu queue, so that a model is loaded once; the others keep short jobs from waiting behind it.
    threads = settings.FOILWORKS_THREADS or max(1, (os.cpu_count() or 1) // count)
    return [
        engine(
            f"worker-{number}",
            ["default", *(["gpu"] if number == 1 else [])],
            variables={"OMP_NUM_THREADS": str(threads)},
            to_logs=to_logs,
        )
        for number in range(1, count + 1)
    ]


def engine(name: str, queues: list[str], *, variables: Mapping[str, str], to_logs: bool = False) -> PythonChild:
    """The process that runs the jobs of `queues` (`foilworks.supervisor.worker`)."""
    log = log_folder() / f"{name}.log" if to_logs else None
    return PythonChild(name, "foilworks.supervisor.worker", queues, log=log, variables=variables)


def work(*, queues: list[str], slots: int, variables: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Run `slots` engines until SIGINT or SIGTERM, on a host that has no more than the queue and the database.

    Jobs that lost their worker are put back from here, too; where short jobs are run, what else `foilworks up` looks
    after is looked after as well, for an installation may have no `up`. Returns how many engines there were.
    SupervisorError: the queue cannot be reached.
    """
    if not is_reachable():
        raise SupervisorError("the queue cannot be reached; set REDIS_URL to the one that all hosts share")
    children = [engine(f"engine-{number}", queues, variables=variables) for number in range(1, slots + 1)]
    chores = (_look_after if "default" in queues else requeue_lost_jobs, Watchdog(children).look)
    with _stop_signals() as stopped, Supervisor(children, chores=chores, chore_every_s=CHORE_SECONDS):
        say(f"{slots} at work on {', '.join(queues)} (Ctrl-C stops)")
        stopped.wait()
        say("stopping")
    return slots


def requeue_lost_jobs() -> None:
    try:
        if count := requeue_lost():
            logger.warning("%s jobs put back on the queue", count)
    except DatabaseError as error:
        logger.warning("lost jobs could not be looked for: %s", error)
    finally:
        connections.close_all()


def _web(listener: socket.socket) -> PythonChild:
    # The socket is ours and is passed on: no moment without a listener at a restart, and port 0 is possible.
    arguments = (
        f"foilworks.wsgi:application --bind fd://{listener.fileno()} {GUNICORN} --graceful-timeout 3 "
        "--log-level warning --chdir"
    )
    return PythonChild("web", "gunicorn", [*arguments.split(), str(Path.cwd())], descriptors=[listener.fileno()])


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOCAL, port))
        except (OSError, OverflowError) as error:
            raise SupervisorError(f"port {port} cannot be used ({error}); choose another one with --port") from error
        listener.listen(WAITING)
        yield listener


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; what they did before is put back at the end."""
    stopped = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_the_web(port: int, stopped: threading.Event) -> None:
    """Return when a page was answered, whatever the answer, or when we are told to stop."""
    answered = threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection(LOCAL, port, timeout=READY_SECONDS)
        try:
            connection.request("GET", "/", headers={"Connection": "close"})
            connection.getresponse().read()
            answered.set()
        except OSError as error:
            logger.warning("the web server does not answer yet: %s", error)
        finally:
            connection.close()

    asking = threading.Thread(target=ask, name="first-request", daemon=True)
    asking.start()
    while asking.is_alive() and not stopped.is_set():
        asking.join(0.1)


def _look_after() -> None:
    """Every quarter of a minute: lost jobs go back on the queue, what is left lying goes, webhooks go out again,
    answers kept for programs that send again are forgotten."""
    try:
        if count := requeue_lost():
            logger.warning("%s jobs put back on the queue", count)
        if count := discard_stale_imports():
            logger.warning("%s imports that nobody decided on were discarded", count)
        if count := expire_submissions():
            logger.warning("%s submissions that nobody decided on were deleted", count)
        if count := remove_partial_uploads():
            logger.warning("%s uploads that were cut off were removed", count)
        queue_due()
        forget_old_answers()
    except DatabaseError as error:
        logger.warning("lost jobs and left files could not be looked for: %s", error)
    finally:
        connections.close_all()
