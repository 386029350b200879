"""A copy of a video that every browser plays, for files whose codec or container none does."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from media.container import OpenVideo, open_video
from media.errors import MediaError
from media.frames import shown_pixels

# Fine enough for the clocks of all common containers, and what players expect of mp4.
CLOCK = Fraction(1, 90_000)
OPTIONS = {"crf": "18", "preset": "veryfast", "threads": "1"}


def transcode_mp4(source: Path, target: Path) -> None:
    """Write `source` as H.264 yuv420p mp4: every frame once, at its own time, as it is shown (rotation and pixel shape
    applied). An odd last row or column is left out, yuv420p has none. The sound is left out too: where the picture
    starts after it, the first frame stands at 0 as well, so that a second of the copy is that second of `source`.

    MediaError: `source` cannot be decoded. OSError: `target` cannot be written.
    """
    try:
        with open_video(source) as video:
            _encode(video, target)
    except av.error.FFmpegError as error:
        if isinstance(error, OSError):
            raise
        raise MediaError(f"{source}: cannot be converted ({error.strerror}); give an mp4 (H.264) file") from error


def _encode(video: OpenVideo, target: Path) -> None:
    with av.open(str(target), "w", container_options={"movflags": "+faststart"}) as out:
        rate = video.stream.average_rate or Fraction(25)
        stream = out.add_stream("libx264", rate=rate, options=OPTIONS)
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = CLOCK
        before = -1
        for time, picture in _pictures(video):
            meant = round(_exact(max(0.0, time), rate, video.time_base) / CLOCK)
            # Two frames of one tick would be refused; a clock that runs backwards too.
            ticks = [max(before + 1, meant)]
            if before < 0:
                stream.height, stream.width = picture.shape[:2]
                # Without the sound before it, players would count from the picture.
                ticks = sorted({0, meant})
            for before in ticks:
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = before, CLOCK
                out.mux(stream.encode(frame))
        if before < 0:
            raise MediaError(f"{video.path}: holds no frame; copy it again from its source")
        out.mux(stream.encode(None))


def _exact(time: float, rate: Fraction, tick: Fraction) -> float:
    """The time that was meant: on the grid of the frame rate, where the source's clock only rounded it away."""
    on_grid = round(time * rate) / rate
    return float(on_grid) if abs(float(on_grid) - time) <= float(tick) else time


def _pictures(video: OpenVideo) -> Iterator[tuple[float, np.ndarray]]:
    for time, frame in video.frames():
        picture = shown_pixels(video, frame)
        height, width = (side - side % 2 for side in picture.shape[:2])
        if not height or not width:
            raise MediaError(f"{video.path}: is {picture.shape[1]} x {picture.shape[0]} pixels; give a larger video")
        yield time, np.ascontiguousarray(picture[:height, :width])
