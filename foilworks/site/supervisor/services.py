"""Run what commands need beside them: the queue and its workers and, for `foilworks up`, the web server."""

import http.client
import importlib.util
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connections
from django.utils import timezone

from foilworks.core.jobs.models import OPEN_STATES, Job, JobState
from foilworks.core.jobs.queue import QUICK, is_reachable, lane_name, ray_queues, requeue_lost
from foilworks.core.jobs.ray.reach import AWAY, unreachable
from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.lock import FolderLock
from foilworks.site.supervisor.processes import ManagedProcess, PythonChild, Supervisor
from foilworks.site.supervisor.sender import Sender
from foilworks.site.supervisor.watchdog import Watchdog

logger = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
READY_SECONDS = 60.0
# A process accepts a request when it has a free thread; the others wait in the shared socket. Connections that stay
# open would wait for the process that accepted them first, however busy it is (decision 57). Pages are loaded once
# (--preload): a lost process restarts in a moment, and all share the memory. An installation whose service manager
# reloads new code omits it (docs/deploy.md).
GUNICORN = "--config python:foilworks.site.server.web_server --preload"
WAITING = 1024
CHORE_SECONDS = settings.JOB_LEASE_SECONDS / 4
# How often `worker --until-empty` looks for open jobs.
LOOK_SECONDS = 1.0
# Ray's own processes have to hear that the actors stop.
RAY_PATIENCE_S = 20.0


def up_lock() -> FolderLock:
    """Return the lock that the `foilworks up` of this home holds; its note contains the address."""
    return FolderLock(settings.FOILWORKS_HOME / "run" / "up.lock")


def log_folder() -> Path:
    return settings.FOILWORKS_HOME / "logs"


@contextmanager
def services(*, workers: int = 1, to_logs: bool = True, extra: tuple[ManagedProcess, ...] = ()) -> Iterator[Supervisor]:
    """Run the queue and ``workers`` workers while the block runs, and requeue jobs lost earlier.

    With REDIS_URL set, that Redis is used; else the home's embedded one is started. If another process of this home
    already runs it, it is shared until that process ends, and then started here. ``to_logs``: children write to
    ``HOME/logs``, else to our standard error. ``extra`` children run beside them.
    """
    redis = None if settings.REDIS_URL else EmbeddedRedis(settings.FOILWORKS_HOME)
    try:
        engines = _workers(workers, to_logs)
        children = [*([redis] if redis else []), *engines, *extra]
        chores = (_run_housekeeping, Watchdog(engines).look)
        with Supervisor(children, chores=chores, chore_every_s=CHORE_SECONDS) as supervisor, Sender():
            yield supervisor
    finally:
        if redis:
            redis.release()


def serve(*, port: int, workers: int, say: Callable[[str], None]) -> str:
    """Update the tables, run everything, ``say`` the address, and return it after SIGINT or SIGTERM.

    Port 0 takes a free one. Raises SupervisorError if the home is already served or the port is in use.
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
    # One worker takes the gpu queue, so that a model is loaded once.
    threads = settings.FOILWORKS_THREADS or max(1, (os.cpu_count() or 1) // count)
    return [
        engine(
            f"worker-{number}",
            ["default", "gpu"] if number == 1 else _queues_of(number, count, ["default"]),
            variables={"OMP_NUM_THREADS": str(threads)},
            to_logs=to_logs,
        )
        for number in range(1, count + 1)
    ]


def _queues_of(number: int, count: int, queues: list[str]) -> list[str]:
    """Return the queues of a host's worker: the last of several takes only quick jobs, so that none waits for a long
    one.
    """
    return [lane_name("default", QUICK)] if number == count > 1 and "default" in queues else queues


def engine(name: str, queues: list[str], *, variables: Mapping[str, str], to_logs: bool = False) -> PythonChild:
    """Return the process that runs the jobs of `queues` (`foilworks.site.supervisor.worker`)."""
    log = log_folder() / f"{name}.log" if to_logs else None
    return PythonChild(name, "foilworks.site.supervisor.worker", queues, log=log, variables=variables)


def work(
    *,
    queues: list[str],
    slots: int,
    variables: Mapping[str, str],
    say: Callable[[str], None],
    until_empty: bool = False,
) -> str:
    """Run `slots` worker processes until SIGINT or SIGTERM, on a host that only needs the queue and the database.

    `until_empty`: only until the queues have no open job. Lost jobs are requeued from here, too. If short jobs run
    here, so does all other maintenance of `foilworks up`, because an installation may have no `up`. Returns the worst
    state of a job that ended meanwhile, with `until_empty`. Raises SupervisorError if the queue cannot be reached.
    """
    if not is_reachable():
        raise SupervisorError("the queue cannot be reached; set REDIS_URL to the one that all hosts share")
    numbers = range(1, slots + 1)
    children = [engine(f"engine-{n}", _queues_of(n, slots, queues), variables=variables) for n in numbers]
    chores = (_run_housekeeping if "default" in queues else requeue_lost_jobs, Watchdog(children).look)
    with Sender() if "default" in queues else nullcontext():
        start_message = f"processes: {slots}, for jobs of {', '.join(queues)}"
        return _run(children, chores, start_message, queues if until_empty else [], say)


def work_on_ray(*, slots: int, say: Callable[[str], None], until_empty: bool = False) -> str:
    """Run jobs of the gpu queue in `slots` actors of the Ray cluster at RAY_ADDRESS, as `work` does here.

    This host is one of the cluster's. SupervisorError: the address or the package is missing, or nothing answers there.
    """
    if not settings.RAY_ADDRESS:
        raise SupervisorError(
            "RAY_ADDRESS is not set; set it to the cluster's, such as head:6379, here and for the web"
        )
    if importlib.util.find_spec("ray") is None:
        raise SupervisorError("Ray is not installed; run pip install 'foilworks[ray]' on every node")
    if why := unreachable(settings.RAY_ADDRESS):
        raise SupervisorError(AWAY.format(address=settings.RAY_ADDRESS, why=why))
    child = PythonChild("ray-engine", "foilworks.site.supervisor.ray_worker", [str(slots)], patience_s=RAY_PATIENCE_S)
    start_message = f"at most {slots} actors run jobs of {', '.join(ray_queues())} on Ray at {settings.RAY_ADDRESS}"
    return _run([child], (requeue_lost_jobs,), start_message, ray_queues() if until_empty else (), say)


def _run(
    children: Sequence[ManagedProcess],
    chores: Sequence[Callable[[], None]],
    start_message: str,
    until_empty: Sequence[str],
    say: Callable[[str], None],
) -> str:
    """Run the children until we must stop, or until no job of the queues `until_empty` is open.

    Return the worst state of a job of these queues that ended meanwhile; empty without such a job.
    """
    requeue_lost_jobs()
    began = timezone.now()
    with _stop_signals() as stopped, Supervisor(children, chores=chores, chore_every_s=CHORE_SECONDS):
        say(f"{start_message} (Ctrl-C stops)")
        while not stopped.wait(LOOK_SECONDS if until_empty else None):
            if not _has_open_jobs(until_empty):
                say("no job is open")
                return _worst_end(until_empty, began)
        say("stopping")
    return ""


def _worst_end(queues: Sequence[str], since: datetime) -> str:
    ended = Job.objects.filter(queue__in=queues, parent=None, finished_at__gte=since).order_by("-finished_at")
    for state in (JobState.FAILED, JobState.PARTLY):
        if job := ended.filter(state=state).first():
            logger.warning("%s: %s", job, job.error or job.message)
            return state
    return ""


def _has_open_jobs(queues: Sequence[str]) -> bool:
    """Return whether a job of the queues is open; True while the database cannot be read."""
    try:
        return Job.objects.filter(queue__in=queues, state__in=OPEN_STATES).exists()
    except DatabaseError as error:
        logger.warning("cannot look for open jobs: %s", error)
        return True
    finally:
        connections.close_all()


def requeue_lost_jobs() -> None:
    try:
        if count := requeue_lost():
            logger.warning("%s jobs requeued", count)
    except DatabaseError as error:
        logger.warning("cannot look for lost jobs: %s", error)
    finally:
        connections.close_all()


def _web(listener: socket.socket) -> PythonChild:
    # The socket is ours and is passed on: a restart leaves no moment without a listener, and port 0 works.
    arguments = (
        f"foilworks.site.wsgi:application --bind fd://{listener.fileno()} {GUNICORN} --graceful-timeout 3 "
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
            raise SupervisorError(
                f"port {port} cannot be used ({error}); choose a different one with --port"
            ) from error
        listener.listen(WAITING)
        yield listener


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set; restore their handlers at the end."""
    stopped = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_the_web(port: int, stopped: threading.Event) -> None:
    """Return when the web server has answered a page, whatever the status, or when we must stop."""
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


def _run_housekeeping() -> None:
    # Imported in the first round: what it cleans needs the statistics of pages, which would delay every start.
    from foilworks.site.supervisor.housekeeping import look_after

    look_after()
