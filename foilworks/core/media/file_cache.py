"""Cache files by the hash of their inputs, with a size limit: the least recently used are removed first.

Any number of processes share a folder. An entry appears whole or not at all; one that another process removes meanwhile
is a miss. A full disk costs the entry, never the caller.
"""

import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from foilworks.core.media.errors import MediaError

log = logging.getLogger(__name__)

# How full a folder is left after room was made, so that not every write looks through it again.
TARGET_FILL = 0.9
# After so much was written by this process, what others wrote meanwhile is counted anew.
RESCAN_FRACTION = 0.05


def content_key(**parts: object) -> str:
    """64 hex digits of named JSON values; another name or value is another key."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, allow_nan=False).encode()).hexdigest()


class FileCache:
    """`limit` bytes of files in `folder`, which is made where it is missing.

    What was used in the last `spare_s` seconds stays, even beyond the limit.
    """

    def __init__(self, folder: Path, limit: int, *, spare_s: float = 0.0) -> None:
        if limit < 1:
            raise ValueError(f"a cache of {limit} bytes is too small; set a larger limit or disable it")
        self.folder, self.limit, self.spare_s = Path(folder), limit, spare_s
        self._size = 0
        self._uncounted = limit

    def get(self, key: str) -> bytes | None:
        """Return an entry and note its use; None if it is missing or unreadable."""
        path = self.path(key)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keep `data`, and release what was not used for longest where there is no room."""
        if len(data) > self.limit:
            return
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                file.write(data)
            Path(file.name).replace(path)
        except OSError as error:
            log.warning(
                "%s: cannot store an entry (%s); free some space or lower its limit", self.folder, error.strerror
            )
            return
        self.note(len(data))

    def note(self, size: int) -> None:
        """Count added bytes; remove the least recently used entries if the cache is full."""
        self._size += size
        self._uncounted += size
        if self._uncounted > self.limit * RESCAN_FRACTION or self._size > self.limit:
            self._make_room()

    def drop(self, key: str) -> None:
        """Remove a useless entry."""
        self.path(key).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all entries."""
        for _, _, path in list(self._entries()):
            path.unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes of all entries."""
        return sum(size for _, size, _ in self._entries())

    def path(self, key: str) -> Path:
        """Where an entry is, or would be."""
        return self.folder / key[:2] / key

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """(when it was last used, bytes, where) of every entry; half-written ones of killed processes too."""
        for path in self.folder.glob("??/*") if self.folder.is_dir() else ():
            with suppress(OSError):
                stat = path.stat()
                yield stat.st_mtime, stat.st_size, path

    def _make_room(self) -> None:
        entries = sorted(self._entries())
        self._size, self._uncounted = sum(size for _, size, _ in entries), 0
        if self._size <= self.limit:
            return
        for used, size, path in entries:
            if self._size <= self.limit * TARGET_FILL or (self.spare_s and used > time.time() - self.spare_s):
                break
            with suppress(OSError):
                path.unlink()
                self._size -= size


# A file that was asked for so lately may be just about to be opened: it stays, even beyond the limit.
JUST_USED_S = 120.0


class ClipCache:
    """`limit` bytes of files in `folder`, and what was used in the last JUST_USED_S seconds."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.files = FileCache(folder, max(1, limit), spare_s=JUST_USED_S)

    def path(self, key: str, fetch: Callable[[IO[bytes]], None], *, sha256: str = "") -> Path:
        """Where the file is, fetched if it is not there yet.

        `sha256`: of its bytes, where it is known. MediaError: other bytes came. What `fetch` raises comes out.
        """
        path = self.files.path(key)
        with suppress(FileNotFoundError):
            os.utime(path)
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            arriving = Path(file.name)
            try:
                fetch(file)
                file.flush()
                _check(arriving, sha256)
                size = arriving.stat().st_size
                arriving.replace(path)
            finally:
                # Of what did not become an entry.
                arriving.unlink(missing_ok=True)
        self.files.note(size)
        return path


def _check(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        if sha256 and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise MediaError(f"{sha256[:12]}…: the stored file has other bytes; attach the file again")
