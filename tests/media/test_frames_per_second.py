"""Frames per second: the frames of ten clips, against a computation of their own on the decoded file."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from foilworks.core.media.sampling import PER_SECOND, Sampling


def write_clip(path: Path, n: int, rate: Fraction) -> None:
    """A grey clip whose n-th frame has the brightness 5 n."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"qp": "0"})
        stream.width = stream.height = 32
        stream.pix_fmt = "yuv420p"
        for at in range(n):
            picture = np.full((32, 32, 3), 16 + 5 * (at % 44), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


CASES = [
    (24, Fraction(8), None, None, 2.0, 64),
    (24, Fraction(8), None, None, 1.0, 2),
    (40, Fraction(8), 1.0, 4.0, 2.0, 64),
    (30, Fraction(30), None, None, 2.0, 64),
    (30, Fraction(30), None, None, 0.5, 64),
    (44, Fraction(12), 0.5, 3.25, 4.0, 64),
    (44, Fraction(12), None, None, 3.0, 5),
    (25, Fraction(25), 0.2, 0.9, 10.0, 64),
    (40, Fraction(10), None, None, 2.5, 64),
    (9, Fraction(3), None, None, 1.5, 64),
]


@pytest.mark.parametrize(("n", "rate", "start", "end", "fps", "most"), CASES)
def test_frames_of_a_clip(tmp_path: Path, n, rate, start, end, fps, most) -> None:
    path = tmp_path / "clip.mp4"
    write_clip(path, n, rate)
    with av.open(str(path)) as container:
        times = [float(frame.time) for frame in container.decode(video=0)]
    begin, finish = start or 0.0, float(n / rate) if end is None else end
    count = min(most, max(1, int((finish - begin) * fps + 1e-6)))
    moments = [begin + (at + 0.5) * (finish - begin) / count for at in range(count)]
    # On screen at a moment is the last frame that began.
    expected = [max(time for time in times if time <= moment + 1e-6) for moment in moments]
    sample = Sampling(PER_SECOND, most, 1 / fps).sample(path, start, end)
    assert len(sample.frames) == count
    assert list(sample.times) == pytest.approx(expected)
