"""What one pass over a large file must remember: in memory while it is little, in a temporary file beyond.

A set of a million ids takes some hundred megabytes; SQLite keeps them in a private file that is gone when it is closed.
"""

import sqlite3
from types import TracebackType
from typing import Self

from text.errors import ActionableError

IN_MEMORY = 20_000
_CACHE_KIB = 8_192


class Spill:
    """Texts by text key. ActionableError where the temporary folder has no room."""

    def __init__(self, in_memory: int | None = None) -> None:
        self._most = IN_MEMORY if in_memory is None else in_memory
        self._few: dict[str, str] = {}
        self._many: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def setdefault(self, key: str, value: str) -> str | None:
        """The value that the key had already; None where it is new and has now got this one."""
        if self._many is None:
            known = self._few.get(key)
            if known is None:
                self._few[key] = value
                self._spill_over()
            return known
        return self._asked(self._many, key, value)

    def put(self, key: str, value: str) -> None:
        """The key has this value from now on."""
        if self._many is None:
            self._few[key] = value
            self._spill_over()
        else:
            self._run(self._many, "INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, value))

    def close(self) -> None:
        if self._many is not None:
            self._many.close()
        self._few.clear()

    def _spill_over(self) -> None:
        if len(self._few) <= self._most:
            return
        # An empty name is a private file in the temporary folder; no other process sees it, no crash leaves it behind.
        self._many = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._many.execute("PRAGMA journal_mode = OFF")
        self._many.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._many.execute("CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        for row in self._few.items():
            self._run(self._many, "INSERT INTO kept VALUES (?, ?)", row)
        self._few.clear()

    def _asked(self, many: sqlite3.Connection, key: str, value: str) -> str | None:
        row = self._run(many, "SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
        if row is None:
            self._run(many, "INSERT INTO kept VALUES (?, ?)", (key, value))
            return None
        return str(row[0])

    def _run(self, many: sqlite3.Connection, statement: str, values: tuple[str, ...]) -> sqlite3.Cursor:
        try:
            return many.execute(statement, values)
        except sqlite3.OperationalError as error:
            problem = f"has no room for what an import must remember ({error})"
            raise ActionableError(f"temporary folder: {problem}; free space there") from error
