"""What tests have a child process do."""

import os
import signal
import time
from collections.abc import Iterator

import av

from foilworks.core.media.errors import MediaError


def fill(size: int) -> int:
    return len(bytearray(size))


def decoder_without_memory() -> None:
    """As a decoder fails: an error of ours, caused by one of FFmpeg's."""
    try:
        raise av.error.MemoryError(12, "Cannot allocate memory")
    except av.error.FFmpegError as error:
        raise MediaError("a.mp4: is damaged; copy it again") from error


def compute_for_ever() -> None:
    while True:
        pass


def sleep_for_ever() -> None:
    while True:
        time.sleep(60)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def refuse() -> None:
    raise MediaError("a.mp4: is damaged; copy it again")


def meet_a_full_disk() -> None:
    raise OSError(28, "No space left on device", "b.mp4")


def fail() -> None:
    raise ZeroDivisionError


def count(n: int) -> Iterator[tuple[int, int]]:
    for number in range(n):
        yield number, os.getpid()


def refuse_after_two() -> Iterator[int]:
    yield 1
    yield 2
    raise MediaError("a.mp4: is damaged; copy it again")


def variable(name: str) -> str | None:
    return os.environ.get(name)
