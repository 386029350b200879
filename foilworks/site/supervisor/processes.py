"""Start processes together, keep them alive and stop them together."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol

from django.db import DatabaseError
from redis.exceptions import RedisError

from foilworks.site.supervisor.errors import SupervisorError

logger = logging.getLogger(__name__)

STANDARD_ERROR = 2
LOOK_EVERY_SECONDS = 0.25
FIRST_PAUSE, MAX_PAUSE_S = 0.5, 30.0
# A child that lived this long had started well: its next restart is quick again.
HEALTHY_SECONDS = 30.0
# Bytes of a log that are read for its last line, and characters of it that are shown.
LOG_TAIL, MAX_LINE = 4096, 300
# Errors that may pass: the machine has no room for a process or a file, or a server is unavailable.
TRANSIENT_ERRORS = (SupervisorError, OSError, RedisError, DatabaseError)


class ManagedProcess(Protocol):
    """The interface of a process that a `Supervisor` runs."""

    name: str
    # The others need it until they have ended.
    stops_last: bool
    # Where it says why it ended; None: on our standard error.
    log: Path | None

    def start(self) -> None: ...
    def is_alive(self) -> bool: ...
    def stop(self) -> None: ...


class PythonChild:
    """A Python module run as a process of its own that ends with this one (see `child`)."""

    stops_last = False

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        *,
        log: Path | None = None,
        descriptors: Sequence[int] = (),
        patience_s: float = 8.0,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name = name
        # Files of the working directory must not hide our packages, such as a `text.py` of the user's.
        variables = {"PYTHONSAFEPATH": "1", **variables}
        # `env` becomes the process: its number stays, and inherited files are passed on.
        set_first = ["env", *(f"{name}={value}" for name, value in variables.items())]
        self._argv = [*set_first, sys.executable, "-m", "foilworks.site.supervisor.child", module, *arguments]
        self.log = log
        self._descriptors = tuple(descriptors)
        self._patience_s = patience_s
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        if self.log is None:
            # Standard output stays ours: a command may print JSON there.
            self._process = self._popen(STANDARD_ERROR)
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = self._popen(log.fileno())

    def _popen(self, output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=self._descriptors,
            start_new_session=True,
        )

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, patience_s: float | None = None) -> None:
        """Stop the process: signal it, signal it again, and kill it when it takes longer than its patience.

        The second signal matters to a worker: the first lets its job end, the second puts the job back on the queue.
        """
        patience_s = self._patience_s if patience_s is None else patience_s
        process, self._process = self._process, None
        if process is None:
            return
        for _ in range(2):
            process.terminate()
            if _ends_within(process, patience_s / 2):
                break
        else:
            logger.warning("%s did not stop within %.0f s: killed", self.name, patience_s)
            process.kill()
            process.wait()
        if process.stdin:
            process.stdin.close()


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _last_line(log: Path | None) -> str:
    """Return the end of a message: what the log says last, and where it is; empty without a log."""
    if log is None or not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL))
        lines = file.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; {log} ends with: {last[:MAX_LINE]}" if last else ""


@dataclass
class _Watch:
    """When a child was started, and how long to pause before its next start."""

    child: ManagedProcess
    started_at: float = 0.0
    pause_s: float = FIRST_PAUSE
    start_at: float | None = field(default=None)


class Supervisor:
    """Starts children in order, starts a dead one again after a growing pause, and stops them all at the end.

    Each of ``chores`` is called every ``chore_every_s`` seconds from the watching thread.
    """

    def __init__(
        self,
        children: Sequence[ManagedProcess],
        *,
        chores: Sequence[Callable[[], None]] = (),
        chore_every_s: float = 15.0,
    ) -> None:
        self.children = list(children)
        self._watches = [_Watch(child) for child in children]
        self._chores = chores
        self._chore_every_s = chore_every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def __enter__(self) -> "Supervisor":
        with ExitStack() as started:
            # If anything fails here, the processes that already run are stopped.
            started.callback(self._stop_children)
            for watch in self._watches:
                watch.child.start()
                watch.started_at = time.monotonic()
            self._thread.start()
            started.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._stop_children()

    def _stop_children(self) -> None:
        """Stop the children at the same time, so that the slowest sets the time; then those that they needed."""
        stoppers = [threading.Thread(target=watch.child.stop) for watch in self._watches if not watch.child.stops_last]
        for stopper in stoppers:
            stopper.start()
        for stopper in stoppers:
            stopper.join()
        for watch in self._watches:
            if watch.child.stops_last:
                watch.child.stop()

    def _watch(self) -> None:
        chore_at = time.monotonic()
        while not self._over.wait(LOOK_EVERY_SECONDS):
            for watch in self._watches:
                self._restart_if_dead(watch)
            if self._chores and time.monotonic() >= chore_at:
                for chore in self._chores:
                    self._do_chore(chore)
                chore_at = time.monotonic() + self._chore_every_s

    def _do_chore(self, chore: Callable[[], None]) -> None:
        try:
            chore()
        except TRANSIENT_ERRORS as error:
            logger.warning("maintenance failed: %s; retry in %.0f s", error, self._chore_every_s)

    def _restart_if_dead(self, watch: _Watch) -> None:
        now = time.monotonic()
        if watch.child.is_alive():
            return
        if watch.start_at is None:
            if now - watch.started_at > HEALTHY_SECONDS:
                watch.pause_s = FIRST_PAUSE
            watch.start_at = now + watch.pause_s
            last_line = _last_line(watch.child.log)
            logger.warning("%s ended unexpectedly; restart in %.1f s%s", watch.child.name, watch.pause_s, last_line)
            watch.pause_s = min(2 * watch.pause_s, MAX_PAUSE_S)
        if now < watch.start_at:
            return
        watch.start_at = None
        watch.started_at = now
        try:
            # Release its pipe and its record of the dead process before the new one starts.
            watch.child.stop()
            watch.child.start()
        except TRANSIENT_ERRORS as error:
            logger.warning("%s: %s", watch.child.name, error)
