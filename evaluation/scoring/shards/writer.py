"""Storing scores beside the model: one batch is written while the next is computed."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from types import TracebackType
from typing import Self

from django.db import connection

from evaluation.scoring.loop import PairScore

# On their way at once: a killed worker loses these and the batch at its model.
ON_THE_WAY = 1


class ScoreWriter:
    """Calls `store` from a thread with a connection of its own, in order; an error of it comes out of the next `put`.

    Inside a transaction nobody else's connection sees its rows, and on SQLite none can write: no thread then.
    """

    def __init__(self, store: Callable[[Sequence[PairScore]], None]) -> None:
        self._store = store
        self._executor: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()
        # Seconds spent on writing, and those that the caller waited for it.
        self.seconds = 0.0

    def __enter__(self) -> Self:
        if not connection.in_atomic_block:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="scores")
        return self

    def put(self, scores: Sequence[PairScore]) -> None:
        if self._executor is None:
            self._write(scores)
            return
        while len(self._waiting) >= ON_THE_WAY:
            self._waiting.popleft().result()
        self._waiting.append(self._executor.submit(self._write, scores))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What was put is stored, also where an error ended the block."""
        if self._executor is None:
            return
        self._executor.submit(_hang_up)
        self._executor.shutdown(wait=True)
        if error is None:
            for one in self._waiting:
                one.result()

    def _write(self, scores: Sequence[PairScore]) -> None:
        began = perf_counter()
        self._store(scores)
        self.seconds += perf_counter() - began


def _hang_up() -> None:
    connection.close()
