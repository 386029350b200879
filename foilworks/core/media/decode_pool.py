"""Clips fetched ahead of a model: decoded, or read from a cache, by several threads or processes, handed on in order.

FFmpeg and the resizing let other threads run, so threads are enough and nothing is copied between processes (decision
30). Each decoder itself uses one thread.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

Element = TypeVar("Element")
Decoded = TypeVar("Decoded")

THREADS, PROCESSES = "threads", "processes"
KINDS = (THREADS, PROCESSES)


class DecodePool:
    """`workers` of them; 0 does everything in the caller's thread, when it is asked for.

    With `processes`, what is handed over must be picklable, and children import what it names.
    """

    def __init__(self, workers: int, kind: str = THREADS) -> None:
        if workers < 0 or kind not in KINDS:
            raise ValueError(f"a pool of {workers} {kind}: give a number from 0 and one of {', '.join(KINDS)}")
        self.workers, self.kind = workers, kind
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        if self.workers and self.kind == THREADS:
            self._executor = ThreadPoolExecutor(self.workers, thread_name_prefix="decode")
        elif self.workers:
            # A fork would copy the locks of other threads, and a GPU's state.
            self._executor = ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("forkserver"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = None

    def ahead(
        self, elements: Iterable[Element], work: Callable[[Element], Decoded], depth: int
    ) -> Iterator[tuple[Element, Callable[[], Decoded]]]:
        """Each element with what waits for `work(element)`, in order; at most `depth` of them are begun and not taken.

        What `work` raises comes out of the wait. Elements that nobody takes any more are not begun.
        """
        if self._executor is None:
            for element in elements:
                yield element, lambda element=element: work(element)  # type: ignore[misc]
            return
        futures: deque[tuple[Element, Future[Decoded]]] = deque()
        try:
            for element in elements:
                futures.append((element, self._executor.submit(work, element)))
                if len(futures) >= max(1, depth):
                    first, future = futures.popleft()
                    yield first, future.result
            while futures:
                first, future = futures.popleft()
                yield first, future.result
        finally:
            for _, future in futures:
                future.cancel()


def usual_workers() -> int:
    """Return the number of processors for this process, less one for the model's thread; at least 1."""
    may_use = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, may_use - 1)
