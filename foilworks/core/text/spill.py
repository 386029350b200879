"""Store the state of a pass over a large file in a private SQLite file in the temporary folder.

A set of a million ids takes some hundred megabytes; SQLite moves what exceeds its cache to the file, deleted when
it is closed.
"""

import pickle  # nosec
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from os import SEEK_END
from tempfile import TemporaryFile
from types import TracebackType
from typing import Generic, Self, TypeVar

from foilworks.core.text.errors import ActionableError

Entry = TypeVar("Entry")
# Keys that are in memory, as a dictionary, which is ten times as fast: about 30 MB.
IN_MEMORY = 100_000


class Spill:
    """A mapping of text keys to texts. ActionableError: the temporary folder is full."""

    def __init__(self) -> None:
        self._recent: dict[str, str] = {}
        self._is_large = False
        # An empty name is a private file: no other process sees it, no crash leaves it behind.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA cache_size = -8192;"
            "CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._database.close()

    def setdefault(self, key: str, value: str) -> str | None:
        """Return the existing value of the key; None if it is new, and then set this value."""
        if not self._is_large:
            if (stored_value := self._recent.get(key)) is None:
                self._remember(key, value)
            return stored_value
        if self._run("INSERT OR IGNORE INTO kept VALUES (?, ?)", key, value).rowcount:
            return None
        return self.get(key)

    def get(self, key: str) -> str | None:
        """Return the value of the key; None if it has none."""
        if not self._is_large:
            return self._recent.get(key)
        row = self._run("SELECT value FROM kept WHERE key = ?", key).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Set the value of the key."""
        if self._is_large:
            self._run("INSERT OR REPLACE INTO kept VALUES (?, ?)", key, value)
        else:
            self._remember(key, value)

    def by_key(self) -> Iterator[str]:
        """Yield the values in the order of their keys, by code points."""
        self._move()
        return (value for (value,) in self._run("SELECT value FROM kept ORDER BY key"))

    def _remember(self, key: str, value: str) -> None:
        self._recent[key] = value
        if len(self._recent) == IN_MEMORY:
            self._move()

    def _move(self) -> None:
        """Move everything to the file, and from now on store there."""
        self._is_large = True
        for pair in self._recent.items():
            self._run("INSERT INTO kept VALUES (?, ?)", *pair)
        self._recent.clear()

    def _run(self, statement: str, *values: str) -> sqlite3.Cursor:
        try:
            return self._database.execute(statement, values)
        except sqlite3.OperationalError as error:
            raise _full(error) from error


def _full(error: Exception) -> ActionableError:
    return ActionableError(f"temporary folder: no space for the data of an import ({error}); free space there")


class SpilledChunks(Generic[Entry]):
    """Lists in a private temporary file, read again in their order. ActionableError: the temporary folder is full."""

    def __init__(self) -> None:
        # Without a name: it is gone with this object.
        self._file = TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def append(self, chunk: Sequence[Entry]) -> None:
        try:
            self._file.write(pickle.dumps(chunk, pickle.HIGHEST_PROTOCOL))
        except OSError as error:
            raise _full(error) from error

    def __iter__(self) -> Iterator[list[Entry]]:
        end = self._file.seek(0, SEEK_END)
        self._file.seek(0)
        while self._file.tell() < end:
            # This process wrote the file, which has no name.
            yield pickle.load(self._file)  # noqa: S301  # nosec
