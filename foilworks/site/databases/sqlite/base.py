"""Wrap Django's SQLite so that transactions begin in turn (DATABASES["default"]["ENGINE"] =
"foilworks.site.databases.sqlite")."""

from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from foilworks.site.databases.sqlite.turns import WriteQueue, queue_of


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
