"""Read the frames of the next steps in a background thread, so that the model does not wait for decoding.

At most `depth` steps are read ahead, so memory is bounded. Order and frames are those of a training that reads by
itself.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foilworks.site.teacher.ranks import Ranks
from foilworks.site.teacher.step_losses import Student, own_rows

ReadClip = Callable[[int], Any]
# A step's number and its rows.
Step = tuple[int, NDArray[np.int64]]


@contextmanager
def read_ahead(student: Student, steps: Iterator[Step], depth: int, ranks: Ranks) -> Iterator[Iterator[Step]]:
    """Yield the same steps; the clips of a step are in memory when it begins. Errors are those of the student's
    reader, raised at the step that needs the clip.
    """
    read = student.read
    if read is None or depth < 1:
        yield steps
        return
    with ThreadPoolExecutor(1, thread_name_prefix="frames") as pool:
        ahead = _Ahead(read, pool, depth)
        student.read = ahead
        try:
            yield ahead.over(steps, ranks)
        finally:
            student.read = read
            pool.shutdown(cancel_futures=True)


class _Ahead:
    def __init__(self, read: ReadClip, pool: ThreadPoolExecutor, depth: int) -> None:
        self._read, self._pool, self._depth = read, pool, depth
        self._clips: dict[int, Any] = {}

    def __call__(self, index: int) -> Any:
        clip_frames = self._clips.get(index)
        return self._read(index) if clip_frames is None else clip_frames

    def over(self, steps: Iterator[Step], ranks: Ranks) -> Iterator[Step]:
        waiting: deque[tuple[Step, Future[dict[int, Any]]]] = deque()
        for step in steps:
            waiting.append((step, self._pool.submit(self._read_all, step[1][own_rows(len(step[1]), ranks)].tolist())))
            if len(waiting) > self._depth:
                yield self._begun(*waiting.popleft())
        while waiting:
            yield self._begun(*waiting.popleft())

    def _begun(self, step: Step, clips: Future[dict[int, Any]]) -> Step:
        self._clips = clips.result()
        return step

    def _read_all(self, indices: list[int]) -> dict[int, Any]:
        return {index: self._read(index) for index in indices}
