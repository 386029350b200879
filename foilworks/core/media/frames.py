"""Frames for models and filmstrips: uniform in time, decoded in sequence, never by seeking."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from av.video.frame import VideoFrame

from foilworks.core.media.container import OpenVideo, open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.packets import packet_times
from foilworks.core.media.picture import shown_pixels

# Part of every cache key and every score's provenance; change it when the choice of frames or their scaling
# changes.
SAMPLING_POLICY = "time-bin-centres/2"

# Trims are stated to milliseconds, and the decoder's end may be one frame before the stated one.
END_TOLERANCE_S = 1e-3


# (height, width) in pixels.
Size = tuple[int, int]


class Sample(NamedTuple):
    """`frames` uint8 (k, height, width, 3) RGB; `times` the k presentation times in seconds, repeats
    included; `seconds` that the trim lasts, 0 if that is not known.
    """

    frames: np.ndarray
    times: np.ndarray
    seconds: float = 0.0


def sample_frames(
    path: Path,
    k: int,
    start: float | None = None,
    end: float | None = None,
    size: tuple[int, int] | None = None,
) -> Sample:
    """The k frames on screen at the centres of k equal time bins of [start, end).

    `start` and `end` are player seconds (whole clip when None; an end beyond the file is the file's end),
    `size` is (height, width) in pixels (as shown when None; a clip that changes its size midway gets that of the first
    frame taken). A clip with fewer frames than k repeats them.
    MediaError: an unusable file, or a trim outside of it. ValueError: k < 1.
    """
    path = Path(path)
    begin, finish = trim_of(path, start, end)
    (sample,) = frames_on_screen(path, [(bin_centres(begin, finish, k), size)])
    return sample._replace(seconds=finish - begin)


def bin_centres(begin: float, finish: float, k: int) -> list[float]:
    """Return the centres of k equal time bins, in seconds. ValueError: k < 1."""
    if k < 1:
        raise ValueError(f"k is {k}; request at least one frame")
    centres: list[float] = (begin + (np.arange(k) + 0.5) * (finish - begin) / k).tolist()
    return centres


def frames_on_screen(path: Path, requests: Sequence[tuple[Sequence[float], Size | None]]) -> list[Sample]:
    """Return one Sample per (ascending seconds, size), all from one decoding of the file.

    Each is the same as if it were the only one. MediaError: an unusable file.
    """
    pictures_by_request: list[list[tuple[float, np.ndarray]]] = [[] for _ in requests]
    with open_video(path) as video:
        for at, time, image in _on_screen(video, requests):
            pictures_by_request[at].append((time, image))
    return [
        Sample(np.stack([image for _, image in pictures]), np.array([time for time, _ in pictures]))
        for pictures in pictures_by_request
    ]


class Span(NamedTuple):
    """A trim in seconds inside its file, and the seconds at which the frames in it begin."""

    begin: float
    finish: float
    starts: tuple[float, ...]


def trim_of(path: Path, start: float | None, end: float | None) -> tuple[float, float]:
    """Return the trim as two seconds inside the file, as `span_of`."""
    return span_of(path, start, end)[:2]


def span_of(path: Path, start: float | None, end: float | None) -> Span:
    """Return the trim; without a start, from the first frame. MediaError: an unusable file, or a trim outside of it."""
    with open_video(path) as video:
        times = packet_times(video)
    begin = max(0.0, times.starts[0]) if start is None else float(start)
    finish = times.end if end is None else min(float(end), times.end)
    if not 0 <= begin < times.end:
        raise MediaError(f"{path}: the trim starts at {begin:g} s of {times.end:g} s; correct start_time")
    if finish <= begin + END_TOLERANCE_S:
        raise MediaError(f"{path}: the trim ends at {finish:g} s, not after its start; correct end_time")
    return Span(begin, finish, tuple(time for time in times.starts if begin - END_TOLERANCE_S <= time < finish))


def _on_screen(
    video: OpenVideo, requests: Sequence[tuple[Sequence[float], Size | None]]
) -> Iterator[tuple[int, float, np.ndarray]]:
    """For each moment (index of its request, time and picture of the last frame that starts at or before it)."""
    # Containers round a frame's time to their clock, webm to milliseconds: half a tick late is not late.
    half_tick = float(video.time_base) / 2
    moments = sorted((moment, at) for at, (seconds, _) in enumerate(requests) for moment in seconds)
    sizes = [size for _, size in requests]
    due = 0
    on_screen: tuple[float, VideoFrame] | None = None
    images: dict[Size | None, np.ndarray] = {}

    def picture(frame: VideoFrame, at: int) -> np.ndarray:
        if sizes[at] not in images:
            images[sizes[at]] = shown_pixels(video, frame, sizes[at])
        image = images[sizes[at]]
        height, width = image.shape[:2]
        sizes[at] = (height, width)
        # The next moment of the same request may be on this frame too.
        images[height, width] = image
        return image

    for time, frame in video.frames():
        # A frame stays on screen until the next one starts: the next one's time decides.
        while on_screen is not None and due < len(moments) and moments[due][0] < time - half_tick:
            at = moments[due][1]
            yield at, on_screen[0], picture(on_screen[1], at)
            due += 1
        if due == len(moments):
            return
        on_screen = (time, frame)
        images.clear()
    if on_screen is None:
        raise MediaError(f"{video.path}: contains no frames; copy it again from its source")
    for _, at in moments[due:]:
        yield at, on_screen[0], picture(on_screen[1], at)


# Longest side of a stored picture, in pixels: enough to judge, small enough to send.
MAX_SIDE = 1280


def frame_at(path: Path, time: float) -> np.ndarray:
    """The frame on screen at `time` seconds of the file: uint8 (height, width, 3) RGB, as shown.

    MediaError: an unusable file, or a time outside of it.
    """
    # The sampler takes the middle of a span, which may not be empty.
    return sample_frames(path, 1, time, time + 4 * END_TOLERANCE_S).frames[0]


def jpeg(picture: np.ndarray, quality: int = 4) -> bytes:
    """The picture, uint8 (height, width, 3) RGB, as JPEG; `quality` 2 (best) .. 31. Larger ones are scaled down.

    The same picture gives the same bytes. MediaError where it cannot be encoded.
    """
    height, width = picture.shape[:2]
    scale = min(1.0, MAX_SIDE / max(height, width))
    # Chroma is halved, so sides are even.
    wide, high = (max(2, round(side * scale / 2) * 2) for side in (width, height))
    codec = av.CodecContext.create("mjpeg", "w")
    codec.width, codec.height, codec.pix_fmt = wide, high, "yuvj420p"
    codec.time_base = Fraction(1, 25)
    codec.options = {"qmin": str(quality), "qmax": str(quality)}
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    try:
        packets = [*codec.encode(frame.reformat(width=wide, height=high, format="yuvj420p")), *codec.encode(None)]
    except av.error.FFmpegError as error:
        raise MediaError(f"the picture cannot be encoded ({error}); free memory and try again") from error
    return b"".join(bytes(packet) for packet in packets)
