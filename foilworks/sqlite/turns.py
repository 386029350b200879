"""Whose turn it is to write: writers of one file stand in a line, within a process and between processes.

SQLite lets one write at a time. Who comes second sleeps and looks again, ever later (up to 0.1 s), so that the
file lies idle between two writers and whoever has waited longest is served last. A line serves them as they came.

Only an order, no guard: SQLite's own lock holds where somebody writes out of turn (another program, a statement outside
a transaction), and who has waited for LONGEST_WAIT_S goes on without.
"""

import fcntl
import os
import threading
import time
from pathlib import Path

LONGEST_WAIT_S = 10.0
# How often the first in line of a process looks whether another process is done.
LOOKS_EVERY_S = 0.0003
# Bytes of the file that are locked: the turn, and the place of who comes next. Without the second a process that has
# many writers would take the turn from itself, and another process would never see it free.
_TURN, _NEXT = 0, 1


class Turns:
    """The line before one database file. One a process: the locks of a file are lost when it is closed anywhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._within = threading.Lock()
        self._file: int | None = None

    def take(self) -> bool:
        """True when it is this thread's turn, which it gives back; False when it took too long, or no file of this
        folder can be locked."""
        ends = time.monotonic() + LONGEST_WAIT_S
        if not self._within.acquire(timeout=LONGEST_WAIT_S):
            return False
        try:
            taken = self._wait_for(_NEXT, ends) and self._wait_for(_TURN, ends)
            self._unlock(_NEXT)
        except OSError:
            taken = False
        if not taken:
            self._within.release()
        return taken

    def give_back(self) -> None:
        self._unlock(_TURN)
        self._within.release()

    def _wait_for(self, place: int, ends: float) -> bool:
        while not self._lock(place):
            if time.monotonic() > ends:
                return False
            time.sleep(LOOKS_EVERY_S)
        return True

    def _lock(self, place: int) -> bool:
        if self._file is None:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(self, place: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)


_LINES: dict[Path, Turns] = {}
_MAKING = threading.Lock()


def line_of(database: Path) -> Turns:
    """The line before the database file."""
    path = database.with_name(f"{database.name}-turns").resolve()
    with _MAKING:
        if path not in _LINES:
            _LINES[path] = Turns(path)
        return _LINES[path]


def _in_the_child() -> None:
    """Locks of a file are not a child's; it opens its own. The parent's lines stay with connections made before."""
    global _MAKING
    _MAKING = threading.Lock()
    _LINES.clear()


os.register_at_fork(after_in_child=_in_the_child)
