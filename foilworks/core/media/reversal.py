"""Make new videos of trims: played forwards or backwards, at another speed, or joined. Without sound, at a constant
frame rate.

Frames are shown for whole ticks of the file's average rate, so a variable rate becomes a constant one: each moment
shows the frame that was on screen. A few frames are in memory at a time. Both clips of a pair are written by the same
function, so that nothing but what they show tells them apart.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np

from foilworks.core.media.container import open_video
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import trim_of
from foilworks.core.media.packets import packet_times
from foilworks.core.media.picture import shown_pixels

Trim = tuple[float | None, float | None]
# Bytes of frames that are turned round in memory at a time.
CHUNK_BYTES = 64 * 1024**2
MAX_FPS = 60.0


def write_played(path: Path, target: Path, trim: Trim, *, backwards: bool) -> None:
    """Write the trim as H.264 without sound; `backwards`: its last frame first, each for as long as it was shown.

    Seconds as `foilworks.core.media.frames.sample_frames`. Parts of the trim are encoded one after the other and
    joined, backwards from the last to the first, so nothing is encoded twice. MediaError: an unusable file, or a trim
    outside of it.
    """
    fps, step = _rate(path), -1 if backwards else 1
    with TemporaryDirectory(dir=target.parent) as folder:
        chunk_paths: list[Path] = []
        frames = _frames(path, trim, fps)
        for first in frames:
            size = max(1, CHUNK_BYTES // first.nbytes)
            chunk_path = Path(folder) / f"{len(chunk_paths)}.mp4"
            write_mp4(chunk_path, [first, *islice(frames, size - 1)][::step], fps, in_order=True)
            chunk_paths.append(chunk_path)
        if not chunk_paths:
            raise MediaError(f"{path}: the trim has no frames; correct start_time and end_time")
        _join_files(chunk_paths[::step], target)


def write_paced(path: Path, target: Path, trim: Trim, *, step: int, ticks: int) -> None:
    """Write the trim at `step / ticks` of its speed: every `step`-th frame, each shown for `ticks` ticks.

    With equal steps, two clips have the same encoded frames, to the last pixel; only their clocks differ. Seconds and
    errors as `write_played`.
    """
    fps = _rate(path)
    with TemporaryDirectory(dir=target.parent) as folder:
        encoded = Path(folder) / "encoded.mp4"
        write_mp4(encoded, islice(_frames(path, trim, fps), 0, None, step), fps, in_order=True)
        _join_files([encoded], target, slowed=ticks)


def write_joined(path: Path, target: Path, trims: Sequence[Trim]) -> None:
    """Write the trims of one file one after the other as H.264 without sound.

    Seconds and errors as `write_played`.
    """
    fps = _rate(path)
    frames = chain.from_iterable(_frames(path, trim, fps) for trim in trims)
    try:
        write_mp4(target, frames, fps, in_order=True)
    except ValueError as error:
        raise MediaError(f"{path}: the trims cannot be joined ({error}); correct start_time and end_time") from error


def _rate(path: Path) -> float:
    with open_video(path) as video:
        times = packet_times(video)
    shown_seconds = times.end - times.starts[0]
    return min(MAX_FPS, len(times.starts) / shown_seconds) if shown_seconds > 0 else 1.0


def _frames(path: Path, trim: Trim, fps: float) -> Iterator[np.ndarray]:
    """Yield the picture on screen at each tick of the trim, with even sides."""
    begin, finish = trim_of(path, *trim)
    n = max(1, round((finish - begin) * fps))
    size: tuple[int, int] | None = None
    done = 0
    picture: np.ndarray | None = None
    with open_video(path) as video:
        for time, frame in video.frames():
            # The frame before is on screen until this one begins.
            due = min(n, round((time - begin) * fps))
            if picture is not None:
                for _ in range(done, due):
                    yield picture
                done = max(done, due)
            if done >= n:
                return
            if size is None:
                high, wide = shown_pixels(video, frame).shape[:2]
                size = (max(2, high // 2 * 2), max(2, wide // 2 * 2))
            # Frames before the trim are read, but only the last of them can be shown.
            picture = shown_pixels(video, frame, size)
    if picture is None:
        raise MediaError(f"{path}: contains no frames; copy it again from its source")
    for _ in range(done, n):
        yield picture


def _join_files(chunk_paths: Sequence[Path], target: Path, slowed: int = 1) -> None:
    """Copy the packets of the parts into one file, as they are: all have one encoder and one size.

    `slowed`: how often its own time each frame is shown.
    """
    with av.open(str(target), "w", container_options={"movflags": "+faststart"}) as container:
        stream = None
        ticks = 0
        for chunk_path in chunk_paths:
            with av.open(str(chunk_path)) as source:
                picture_stream = source.streams.video[0]
                stream = stream or container.add_stream_from_template(picture_stream)
                length = 0
                for packet in source.demux(picture_stream):
                    if packet.size:
                        packet.pts = packet.dts = ticks + slowed * (packet.pts or 0)
                        packet.duration = slowed * (packet.duration or 0)
                        length = max(length, packet.pts - ticks + packet.duration)
                        packet.stream = stream
                        container.mux(packet)
                ticks += length
