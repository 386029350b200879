"""Draw a film strip: a few frames of a clip side by side, small enough for a list of clips. Pure of tables."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foilworks.core.media.frames import jpeg, sample_frames
from foilworks.core.media.probe import probe

FRAMES = 4
# Pixels of one frame, and of the line between two.
HEIGHT, MAX_WIDTH, GAP = 96, 256, 6
# A page of a list shows 25 of them.
MAX_BYTES = 8192
# Of JPEG, from the best to the smallest file (foilworks.core.media.frames.jpeg); below that, the frames get smaller.
QUALITIES = (4, 7, 11, 17, 25, 31)
SMALLER = 0.75


def strip_of_file(path: Path, start: float | None, end: float | None) -> bytes:
    """Return the strip of a file whose size is not known, as JPEG; times in seconds. MediaError: it cannot be used."""
    facts = probe(path)
    return strip_of(path, (facts.width, facts.height), start, end)


def strip_of(path: Path, size: tuple[int, int], start: float | None, end: float | None) -> bytes:
    """Return the strip of a clip, as JPEG; `size`: width and height in pixels. Times and errors as above."""
    height, width = HEIGHT, min(MAX_WIDTH, max(2, round(size[0] * HEIGHT / size[1] / 2) * 2))
    while True:
        sample = sample_frames(path, FRAMES, start, end, (height, width))
        picture = side_by_side(list(sample.frames))
        for quality in QUALITIES:
            strip = jpeg(picture, quality)
            if len(strip) <= MAX_BYTES:
                return strip
        height, width = (max(2, round(side * SMALLER / 2) * 2) for side in (height, width))


def side_by_side(frames: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return the frames as one picture with lines between them: white, black and white, visible on any colour."""
    line = np.full((len(frames[0]), GAP, 3), 255, dtype=np.uint8)
    line[:, GAP // 3 : -(GAP // 3)] = 0
    pieces = [piece for frame in frames for piece in (line, frame)]
    return np.concatenate(pieces[1:], axis=1)
