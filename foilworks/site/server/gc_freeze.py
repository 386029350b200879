"""Load what stays in memory until the process ends."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting() -> Iterator[None]:
    """Keep what is loaded in the block out of the garbage collector's sight.

    It would search all of it again and again while more is loaded, and once more as the process ends: two fifths of a
    short command.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
