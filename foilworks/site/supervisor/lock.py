"""Lock a folder for one process of a machine, with a note that names the holder."""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class FolderLock:
    """A lock that the kernel releases whenever its process ends: no stale lock remains."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, note: str = "") -> bool:
        """Take the lock and write ``note`` into it; return False if another process (or lock object) holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Python opens files as not inheritable: no child keeps the lock alive.
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self.note(note or f"process {os.getpid()}")
        return True

    @property
    def is_held(self) -> bool:
        """Return whether this very object holds the lock."""
        return self._descriptor is not None

    def note(self, text: str) -> None:
        """Replace the text that `holder` returns to others; only the holder may."""
        if self._descriptor is None:
            raise RuntimeError("only the holder of a lock can leave a note in it")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def is_taken(self) -> bool:
        """Return whether another process (or lock object) holds the lock now."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def holder(self) -> str:
        """Return the note of the process that holds the lock, or held it last."""
        return self.path.read_text(encoding="utf-8").strip() if self.path.exists() else ""

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "FolderLock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
