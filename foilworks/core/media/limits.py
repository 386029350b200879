"""Limits on one video: pixels, frames, seconds and streams.

`foilworks.core.media.container` checks them when it opens a file, before decoding, and with every frame. They apply
inside
`limited_to` only: a file that was checked at import is not checked again at every use.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from foilworks.core.media.errors import MediaError

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

Given = ParamSpec("Given")
Found = TypeVar("Found")


REFUSED_SIZE = re.compile(r"Picture size (\d+)x(\d+) (?:is invalid|exceeds)")
NO_MEMORY = ("get_buffer() failed", "Cannot allocate memory")


class VideoLimitError(MediaError):
    """The file exceeds one of `VideoLimits`."""


@dataclass(frozen=True)
class VideoLimits:
    """Maximum per file; 0 means no limit. `pixels` counts one frame, stored and shown. `seconds` is a duration."""

    pixels: int = 0
    frames: int = 0
    seconds: float = 0
    streams: int = 0


_in_force: ContextVar[VideoLimits | None] = ContextVar("video_limits", default=None)


@contextmanager
def limited_to(limits: VideoLimits) -> Iterator[None]:
    """Apply the limits to all videos that are opened inside."""
    token = _in_force.set(limits)
    try:
        yield
    finally:
        _in_force.reset(token)


def call_within(
    limits: VideoLimits,
    function: Callable[Concatenate[Path, Given], Found],
    path: Path,
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Found:
    """Return `function(path, …)`, computed under the limits. MemoryError: a decoder got no memory.

    While it runs, FFmpeg's log level is that of errors for the whole process.
    """
    with limited_to(limits), _errors_logged() as logged:
        try:
            return function(path, *args, **kwargs)
        except VideoLimitError:
            raise
        except MediaError as error:
            # Decoders report a refused size or allocation as invalid data; only their log has the reason.
            log_text = "".join(message for _, _, message in logged)
            if refused := REFUSED_SIZE.search(log_text):
                _check_size(path, int(refused[1]), int(refused[2]), None, limits)
            if any(words in log_text for words in NO_MEMORY):
                raise MemoryError from error
            raise


@contextmanager
def _errors_logged() -> Iterator[list[tuple[int, str, str]]]:
    # Imported here and below: web processes only need the limits, and decode in a child process.
    import av

    level = av.logging.get_level()
    av.logging.set_level(av.logging.ERROR)
    try:
        with av.logging.Capture() as logged:
            yield logged
    finally:
        av.logging.set_level(level)


def decoder_options() -> dict[str, str]:
    """Options of FFmpeg by which decoders refuse a frame that is too large before they take memory for it."""
    limits = _in_force.get()
    return {"max_pixels": str(limits.pixels)} if limits and limits.pixels else {}


def check_header(path: Path, container: "InputContainer", stream: "VideoStream") -> None:
    """Compare what the file says about itself with the limits in force. MediaError: it exceeds one."""
    from av import time_base

    limits = _in_force.get()
    if limits is None:
        return
    _check(path, "streams", len(container.streams), limits.streams, "remove the streams that are not needed")
    _check_size(path, stream.width, stream.height, stream.sample_aspect_ratio, limits)
    _check_frames(path, stream.frames, limits)
    lasts = [float(container.duration) / time_base] if container.duration else []
    if stream.duration and stream.time_base:
        lasts.append(float(stream.duration * stream.time_base))
    _check_seconds(path, max(lasts, default=0.0), limits)


def check_frame(path: Path, stream: "VideoStream", frame: "VideoFrame", number: int, time: float) -> None:
    """Compare a decoded frame with the limits in force; `number` counts from 0, `time` is in seconds. MediaError."""
    limits = _in_force.get()
    if limits is None:
        return
    _check_size(path, frame.width, frame.height, stream.sample_aspect_ratio, limits)
    _check_frames(path, number + 1, limits, f"at least {number + 1} frames")
    _check_seconds(path, time, limits)


def _check_size(path: Path, width: int, height: int, aspect: Fraction | None, limits: VideoLimits) -> None:
    display_width = round(width * max(Fraction(1), aspect or Fraction(1)))
    fix = "give a smaller copy"
    _check(path, "pixels", display_width * height, limits.pixels, fix, f"{display_width} x {height} pixels")


def _check_frames(path: Path, frames: int, limits: VideoLimits, words: str = "") -> None:
    _check(path, "frames", frames, limits.frames, "cut the clip out of it", words)


def _check_seconds(path: Path, seconds: float, limits: VideoLimits) -> None:
    _check(path, "seconds", seconds, limits.seconds, "cut the clip out of it", f"{seconds:.0f} seconds")


def _check(path: Path, name: str, value: float, limit: float, fix: str, words: str = "") -> None:
    if limit and value > limit:
        measured = words or f"{value:g} {name}"
        setting = f"MAX_VIDEO_{name.upper()}"
        raise VideoLimitError(
            f"{path}: has {measured}, more than the limit of {limit:.0f} {name}; {fix}, or raise the setting {setting}"
        )
