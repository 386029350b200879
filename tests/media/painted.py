"""Clips whose every frame carries its own number as pixels: what was decoded can be read back."""

import numpy as np

BITS = 8
CELL = 8  # pixels of one painted bit, two chroma samples wide, so that compression cannot blur it away


def painted_frame(index: int, height: int = 32, width: int = CELL * BITS) -> np.ndarray:
    """A grey picture with the index as black and white cells, lowest bit left; upper half only."""
    picture = np.full((height, width, 3), 128, np.uint8)
    for bit in range(BITS):
        picture[: height // 2, bit * CELL : (bit + 1) * CELL] = 255 if index >> bit & 1 else 0
    return picture


def painted_clip(n: int) -> list[np.ndarray]:
    return [painted_frame(index) for index in range(n)]


def read_index(picture: np.ndarray) -> int:
    """The number painted into a frame, also after it was scaled by a whole factor."""
    cell = picture.shape[1] // BITS
    row = picture[picture.shape[0] // 4]
    return sum((int(row[bit * cell + cell // 2].mean()) > 128) << bit for bit in range(BITS))
