"""Wrap Django's SQLite so that transactions begin in turn (DATABASES["default"]["ENGINE"] =
"foilworks.site.databases.sqlite"). Writers of one file wait in a queue, within a process and between processes.

SQLite allows one write at a time. A second writer sleeps and polls, ever more rarely (up to 0.1 s), so the file is idle
between two writers, and the one that has waited longest is served last. A queue serves them in order. It orders writers
but does not guard the file: SQLite's own lock does, also against writers outside the queue (another program, a
statement outside a transaction). A writer that has waited for the maximum time continues without its turn.
"""

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

MAX_WAIT_S = 10.0
# How often the first waiting thread of a process checks whether another process is done.
LOOKS_EVERY_S = 0.0003
# Locked bytes of the file: the turn, and the place of the next writer. Without the second, a process with many writers
# would pass the turn to itself, and another process would never see it free.
_TURN, _NEXT = 0, 1


class WriteQueue:
    """The write queue of one database file. One per process: closing a file anywhere in a process loses its locks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._within = threading.Lock()
        self._file: int | None = None

    def acquire(self) -> bool:
        """Wait for this thread's turn and return True; the caller releases it.

        False if it took too long, or if no file of this folder can be locked.
        """
        ends = time.monotonic() + MAX_WAIT_S
        if not self._within.acquire(timeout=MAX_WAIT_S):
            return False
        try:
            has_turn = self._wait_for(_NEXT, ends) and self._wait_for(_TURN, ends)
            self._unlock(_NEXT)
        except OSError:
            has_turn = False
        if not has_turn:
            self._within.release()
        return has_turn

    def release(self) -> None:
        self._unlock(_TURN)
        self._within.release()

    def _wait_for(self, offset: int, ends: float) -> bool:
        while not self._lock(offset):
            if time.monotonic() > ends:
                return False
            time.sleep(LOOKS_EVERY_S)
        return True

    def _lock(self, offset: int) -> bool:
        if self._file is None:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(self, offset: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, offset)


_LINES: dict[Path, WriteQueue] = {}
_MAKING = threading.Lock()


def queue_of(database: Path) -> WriteQueue:
    """Return the write queue of the database file."""
    path = database.with_name(f"{database.name}-turns").resolve()
    with _MAKING:
        if path not in _LINES:
            _LINES[path] = WriteQueue(path)
        return _LINES[path]


def _reset_after_fork() -> None:
    """Start new queues after a fork: a child inherits no file locks. Old connections keep the parent's queues."""
    global _MAKING
    _MAKING = threading.Lock()
    _LINES.clear()


os.register_at_fork(after_in_child=_reset_after_fork)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that holds the write turn from the first statement of a writing transaction to its end.

    `transaction_mode` says which transactions write.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: WriteQueue | None = None

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        has_begun = False
        try:
            super()._start_transaction_under_autocommit()
            has_begun = True
        finally:
            if not has_begun:
                self._release_turn()

    def _commit(self) -> None:
        try:
            super()._commit()
        finally:
            self._release_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._release_turn()

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._release_turn()

    def _take_turn(self) -> None:
        if self.transaction_mode is None or self.is_in_memory_db() or self._turn is not None:
            return
        queue = queue_of(Path(self.settings_dict["NAME"]))
        if queue.acquire():
            self._turn = queue

    def _release_turn(self) -> None:
        if self._turn is not None:
            self._turn, queue = None, self._turn
            queue.release()
