"""Writing small videos: the demo's world and the tests make their own files."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream

from foilworks.core.media.picture import BT601


def write_mp4(path: Path, frames: Iterable[np.ndarray], fps: float, crf: int = 18, *, in_order: bool = False) -> None:
    """Encode RGB frames, each uint8 (height, width, 3), as H.264 yuv420p with the index first, so that
    browsers play and seek it while it loads.

    `fps` frames per second, `crf` x264's quality (0 lossless .. 51). The same frames decode to the same pictures;
    no promise of equal bytes: x264 was seen to code a flat block in either of two ways that decode alike. `in_order`:
    frames are stored in the order of presentation (no B-frames), so that files can be joined without decoding.
    ValueError: no frame, odd sides (yuv420p halves them), frames of different sizes or not uint8 RGB.
    """
    options = {"crf": str(crf), "preset": "veryfast", "threads": "1"}
    if in_order:
        options["bf"] = "0"
    _write(path, frames, fps, "libx264", options, {"movflags": "+faststart"})


def write_webm(path: Path, frames: Iterable[np.ndarray], fps: float, crf: int = 10) -> None:
    """Encode RGB frames as VP9 in webm; shapes, units and errors as `write_mp4`."""
    options = {"crf": str(crf), "b": "0", "deadline": "realtime", "cpu-used": "8", "threads": "1"}
    _write(path, frames, fps, "libvpx-vp9", options, {})


def _write(
    path: Path,
    frames: Iterable[np.ndarray],
    fps: float,
    codec: str,
    codec_options: dict[str, str],
    container_options: dict[str, str],
) -> None:
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise ValueError("a video needs at least one frame")
    height, width = _checked(first, first.shape).shape[:2]
    if height % 2 or width % 2:
        raise ValueError(f"the sides must be even for yuv420p, not {width} x {height}")
    with av.open(str(path), "w", container_options=container_options) as container:
        rate = Fraction(fps).limit_denominator(1_000_000)
        stream = cast("VideoStream", container.add_stream(codec, rate=rate, options=codec_options))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        _tag(stream.codec_context)
        for picture in chain([first], pictures):
            frame = av.VideoFrame.from_ndarray(_checked(picture, first.shape), format="rgb24")
            frame = frame.reformat(format="yuv420p", dst_colorspace=Colorspace.ITU601, dst_color_range=ColorRange.MPEG)
            _tag(frame)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _tag(picture: Any) -> None:
    """Names the colours, so that no browser has to guess them."""
    picture.colorspace = picture.color_primaries = picture.color_trc = BT601
    picture.color_range = ColorRange.MPEG


def _checked(picture: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise ValueError(f"a frame must be uint8 (height, width, 3), not {picture.dtype} {picture.shape}")
    if picture.shape != shape:
        raise ValueError(f"all frames must have one size: {shape} first, then {picture.shape}")
    return np.ascontiguousarray(picture)
