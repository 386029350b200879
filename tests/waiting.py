"""Wait for other processes and threads.

A test that waits fails after PATIENCE_SECONDS only. Nothing that passes takes so long, however busy the machine is: a
shorter limit would make a test fail by chance.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

PATIENCE_SECONDS = 600.0
PAUSE_SECONDS = 0.02


def wait_until(condition: Callable[[], Any], *, processes: Iterable[Any] = (), log: Callable[[], object] = str) -> Any:
    """Call `condition` until its result is true, and return that result.

    AssertionError with `log()`: one of the `processes` ended before, or it took longer than PATIENCE_SECONDS.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        # Read first: a process may make the condition true, then end.
        ended = [process for process in processes if process.poll() is not None]
        if result := condition():
            return result
        assert not ended, log()
        assert time.monotonic() < end, log()
        time.sleep(PAUSE_SECONDS)
