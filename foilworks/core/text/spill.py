"""Store the state of a pass over a large file in a private SQLite file in the temporary folder.

A set of a million ids takes some hundred megabytes; SQLite moves what exceeds its cache to the file, deleted when
it is closed.
"""

import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from foilworks.core.text.errors import ActionableError


class Spill:
    """A mapping of text keys to texts. ActionableError: the temporary folder is full."""

    def __init__(self) -> None:
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
        if self._run("INSERT OR IGNORE INTO kept VALUES (?, ?)", key, value).rowcount:
            return None
        return str(self._run("SELECT value FROM kept WHERE key = ?", key).fetchone()[0])

    def put(self, key: str, value: str) -> None:
        """Set the value of the key."""
        self._run("INSERT OR REPLACE INTO kept VALUES (?, ?)", key, value)

    def by_key(self) -> Iterator[str]:
        """Yield the values in the order of their keys, by code points."""
        return (value for (value,) in self._run("SELECT value FROM kept ORDER BY key"))

    def _run(self, statement: str, *values: str) -> sqlite3.Cursor:
        try:
            return self._database.execute(statement, values)
        except sqlite3.OperationalError as error:
            problem = f"no space for the data of an import ({error})"
            raise ActionableError(f"temporary folder: {problem}; free space there") from error
