"""Video files fetched from elsewhere, kept by their content in a bounded folder that any number of processes share."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from media.errors import MediaError
from media.file_cache import FileCache

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
            raise MediaError(f"{sha256[:12]}…: what is stored has other bytes; attach the file again")
