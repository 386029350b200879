"""Create and remove folders atomically: complete or not at all, even if the process is killed.

Work is done in a hidden folder beside the target, which is renamed at the end. Its process holds a lock on it. The
kernel frees the lock when the process ends, so the next writer can distinguish the remains of a killed process from
work in progress, and removes them. On a file system without locks for folders the hidden remains stay.
"""

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PARTIAL = ".foilworks-partial"


@contextmanager
def work_folder(out: Path, mode: int = 0o777) -> Iterator[Path]:
    """Yield a new hidden folder next to `out`, to fill and rename to `out`. If it is not renamed, it is removed.

    Remains of killed processes next to `out` are removed first. OSError: the folder cannot be created.
    """
    remove_abandoned(out.parent)
    work, lock = _create(out, mode)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_folder(folder: Path) -> None:
    """Remove the folder atomically: it is complete under its name, or gone. OSError: it cannot be renamed."""
    with set_aside(folder):
        pass


@contextmanager
def set_aside(folder: Path) -> Iterator[Path]:
    """Rename the folder to a hidden name, which is yielded, and remove it at the end."""
    lock, hidden = _lock(folder), _hidden(folder)
    folder.rename(hidden)
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def abandoned(parent: Path) -> Iterator[Path]:
    """Yield the hidden folders of killed processes in `parent`, each locked until the next one."""
    for path in sorted(parent.glob(f".*{PARTIAL}")):
        lock = _lock(path, wait=False)
        if lock is not None:
            try:
                yield path
            finally:
                os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the hidden folders of killed processes in `parent`, except those of running processes."""
    for path in abandoned(parent):
        shutil.rmtree(path, ignore_errors=True)


def is_remains_of(path: Path, out: Path) -> bool:
    """Return whether the hidden folder was going to become `out`, or was `out` before."""
    return path.name.startswith(f".{out.name}.") and len(path.name) == len(_hidden(out).name)


def _hidden(out: Path) -> Path:
    return out.parent / f".{out.name}.{uuid.uuid4().hex}{PARTIAL}"


def _create(out: Path, mode: int) -> tuple[Path, int | None]:
    """Create a locked folder. Another process may remove it as remains before it is locked: then try another."""
    while True:
        work = _hidden(out)
        work.mkdir(parents=True, mode=mode)
        lock = _lock(work)
        if work.exists():
            return work, lock
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, wait: bool = True) -> int | None:
    """Return the descriptor of the lock; None if another process holds it, or the file system has no locks."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(descriptor)
        else:
            return descriptor
    return None
