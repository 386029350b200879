"""Clips whose every frame carries its own number as pixels: what was decoded can be read back."""

from fractions import Fraction
from pathlib import Path

import av
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


def write_smaller_midway(path: Path) -> Path:
    """Write what live streams do: five frames of 128 x 64, then five of 64 x 32, ten per second."""
    clock = Fraction(1, 10)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libvpx", rate=10)
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        for begin, scale in ((0, 2), (5, 1)):
            encoder = av.CodecContext.create("libvpx", "w")
            encoder.width, encoder.height, encoder.pix_fmt = 64 * scale, 32 * scale, "yuv420p"
            encoder.time_base, encoder.framerate = clock, Fraction(10)
            pictures = [painted_frame(index).repeat(scale, 0).repeat(scale, 1) for index in range(begin, begin + 5)]
            frames = [av.VideoFrame.from_ndarray(picture, format="rgb24") for picture in pictures]
            for place, frame in enumerate(frames):
                frame.pts, frame.time_base = begin + place, clock
            for packet in [packet for frame in [*frames, None] for packet in encoder.encode(frame)]:
                packet.stream, packet.time_base = stream, clock
                container.mux(packet)
    return path
