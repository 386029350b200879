"""The times at which each frame of a clip appears and disappears: one clock for player, trims, models and film strips.

Times are whole microseconds from the clip's second 0, as browsers report them.
"""

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

MICROSECONDS = 1_000_000
VERSION = 1
# A frame of which a trim holds less than this, and less than half, is not part of it.
MIN_OVERLAP = 100_000
# Trims are stated to milliseconds.
TRIM_TOLERANCE = 1_000


class ClockError(ValueError):
    """The stored text is not a clock."""


@dataclass(frozen=True)
class Clock:
    """`starts`: when each frame begins, ascending. `end`: when the last one leaves the screen. `offset`: what a
    browser's `currentTime` shows at second 0; 0 but for files that were stored before 0.3.
    """

    starts: tuple[int, ...]
    end: int
    offset: int = 0

    def __post_init__(self) -> None:
        if not self.starts or self.end <= self.starts[-1]:
            raise ClockError("a clock needs a frame, and an end after it")

    @cached_property
    def edges(self) -> np.ndarray:
        """Starts and the end, int64, one more than frames."""
        return np.array([*self.starts, self.end], np.int64)

    @property
    def n_frames(self) -> int:
        return len(self.starts)

    def seconds(self, number: float) -> float:
        """Second at which a frame (from 0) begins; one behind the last is the end. Between frames, in proportion."""
        frame_numbers = np.arange(len(self.edges))
        return float(np.interp(number, frame_numbers, self.edges)) / MICROSECONDS

    def frame_at(self, second: float) -> int:
        """Number of the frame on screen at a second; the first one before it begins, the last one after it ended."""
        frame_number = np.searchsorted(self.edges[:-1], round(second * MICROSECONDS), side="right") - 1
        return min(max(int(frame_number), 0), self.n_frames - 1)

    def frames_within(self, start: float | None, end: float | None) -> tuple[int, int]:
        """(first, last) number of the frames that a trim in seconds shows.

        A frame counts if half of it is in the trim, or MIN_OVERLAP of it; if none does, the one on screen at the
        trim's start.
        """
        begin = self.edges[0] if start is None else round(start * MICROSECONDS)
        finish = self.edges[-1] if end is None else round(end * MICROSECONDS)
        overlap = np.minimum(self.edges[1:], finish) - np.maximum(self.edges[:-1], begin)
        required_overlap = np.minimum(np.diff(self.edges) / 2, MIN_OVERLAP) - min(
            TRIM_TOLERANCE / 2, (finish - begin) / 4
        )
        (inside,) = np.nonzero((overlap >= required_overlap) & (overlap > 0))
        if not len(inside):
            only = self.frame_at(begin / MICROSECONDS)
            return only, only
        return int(inside[0]), int(inside[-1])

    def packed(self) -> str:
        """ASCII text: base64 of zlib of float64 (version, offset, first start, gaps, last gap), little endian.

        Whole numbers below 2**53 are exact. A constant rate takes some 60 characters, whatever the length.
        """
        numbers = [VERSION, self.offset, self.starts[0], *np.diff(self.edges).tolist()]
        return base64.b64encode(zlib.compress(np.array(numbers, "<f8").tobytes(), 9)).decode()


def unpacked(text: str) -> Clock:
    """What `packed` made. ClockError: the text is something else."""
    try:
        numbers = np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), "<f8")
    except (ValueError, zlib.error) as error:
        raise ClockError(f"no clock: {text[:40]!r}") from error
    if len(numbers) < 4 or numbers[0] != VERSION:
        raise ClockError(f"no clock of version {VERSION}: {text[:40]!r}")
    edges = np.cumsum(numbers[2:]).astype(np.int64).tolist()
    return Clock(tuple(edges[:-1]), edges[-1], int(numbers[1]))


def even_clock(n_frames: int, fps: float) -> Clock:
    """The clock of a constant rate from second 0 on."""
    edges = [round(number * MICROSECONDS / fps) for number in range(n_frames + 1)]
    return Clock(tuple(edges[:-1]), edges[-1])


def micro(seconds: Sequence[float]) -> list[int]:
    """Seconds as whole microseconds."""
    return [round(second * MICROSECONDS) for second in seconds]
