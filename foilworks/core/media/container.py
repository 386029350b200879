"""Open a video file safely, or say in one line why it cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_kinds import kind_of
from foilworks.core.media.limits import check_frame, check_header, decoder_options
from foilworks.core.media.truncation import is_cut_short

# Only containers that hold video. Without the list a text file named .mp4 could be a playlist, and the
# library would open whatever addresses and paths the playlist names.
OPEN_OPTIONS = {
    "format_whitelist": "mov,matroska,webm,avi,ogg,mpeg,mpegts,flv,asf",
    "protocol_whitelist": "file",
}

COPY_AGAIN = "copy it again from its source"
CONVERT = "give an mp4 (H.264) or webm file"
# A start that is nearer to 0 is 0: clocks of streams are rounded.
START_TOLERANCE = Fraction(1, 1000)


@dataclass(frozen=True)
class OpenVideo:
    """An opened file, its picture stream, and the first sound stream if there is one.

    Times are seconds from `origin`, the earlier start of the two, in the file's own seconds. `ticks`: of the frames in
    order of presentation, if the container has none but those of decoding (AVI).
    """

    path: Path
    container: InputContainer
    stream: VideoStream
    sound: AudioStream | None
    origin: Fraction
    ticks: tuple[int, ...] = ()

    def frames(self) -> Iterator[tuple[float, VideoFrame]]:
        """Every frame in order of presentation, as (second, frame). MediaError where decoding fails."""
        count = 0
        try:
            for frame in self.container.decode(self.stream):
                ticks = self.ticks[count] if count < len(self.ticks) else frame.pts
                if frame.is_corrupt or ticks is None:
                    raise _damaged(self.path, count)
                time = self.seconds(ticks)
                check_frame(self.path, self.stream, frame, count, time)
                yield time, frame
                count += 1
        except av.error.FFmpegError as error:
            raise _damaged(self.path, count) from error

    def seconds(self, pts: int) -> float:
        """Seconds of a presentation timestamp counted in the stream's time base."""
        ticks, earlier, a_second = self._in_whole_numbers
        return (pts * ticks - earlier) / a_second

    @cached_property
    def time_base(self) -> Fraction:
        """Seconds of one tick of a presentation timestamp."""
        return Fraction(self.stream.time_base or 1)

    @cached_property
    def _in_whole_numbers(self) -> tuple[int, int, int]:
        """A tick, the origin and a second over one denominator: exact, and asked for with every frame, where
        fractions would keep other threads waiting.
        """
        tick, origin = self.time_base, self.origin
        return (
            tick.numerator * origin.denominator,
            origin.numerator * tick.denominator,
            tick.denominator * origin.denominator,
        )


@contextmanager
def open_video(path: Path) -> Iterator[OpenVideo]:
    """Open the file for decoding, one thread. MediaError: missing, empty, cut short, no video, unreadable."""
    _check_file(path)
    opened, ticks = _with_ticks(path)
    with opened as container:
        stream = _picture_stream(path, container)
        check_header(path, container, stream)
        stream.codec_context.options = decoder_options()
        stream.codec_context.thread_count = 1
        sound = next((track for track in container.streams.audio if track.codec_context is not None), None)
        yield OpenVideo(path, container, stream, sound, _origin(container, stream, sound), ticks)


def _with_ticks(path: Path) -> tuple[InputContainer, tuple[int, ...]]:
    """Open the file once, and an AVI again after its packets were read: opening takes as long as decoding a frame."""
    container = _opened(path)
    if container.format.name != "avi":
        return container, ()
    with container:
        ticks = _decoding_ticks(container)
    return _opened(path), ticks


def _opened(path: Path) -> InputContainer:
    try:
        return av.open(f"file:{path.resolve()}", options={**OPEN_OPTIONS, **decoder_options()})
    except (av.error.FFmpegError, UnicodeError) as error:
        kind = kind_of(path)
        problem = f"is {kind}, not a video" if kind else "is not a video that can be read"
        raise MediaError(f"{path}: {problem}; {CONVERT}") from error


def _decoding_ticks(container: InputContainer) -> tuple[int, ...]:
    """Decoding times of the packets: a constant rate decodes and presents at the same moments."""
    packets = container.demux(container.streams.video[0]) if container.streams.video else ()
    return tuple(sorted(packet.dts for packet in packets if packet.size and packet.dts is not None))


def _origin(container: InputContainer, stream: VideoStream, sound: AudioStream | None) -> Fraction:
    starts = [
        track.start_time * Fraction(track.time_base)
        for track in (stream, sound)
        if track is not None and track.start_time is not None and track.time_base
    ]
    if not starts and container.start_time is not None:
        starts = [Fraction(container.start_time, av.time_base)]
    start = min(starts, default=Fraction(0))
    return start if abs(start) > START_TOLERANCE else Fraction(0)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise MediaError(f"{path}: there is no such file; check the name and the folder")
    if not path.is_file():
        raise MediaError(f"{path}: is a folder or a device, not a file; {CONVERT}")
    try:
        if path.stat().st_size == 0:
            raise MediaError(f"{path}: is empty (0 bytes); {COPY_AGAIN}")
        if is_cut_short(path):
            raise MediaError(f"{path}: is cut short, its end is missing; {COPY_AGAIN}")
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _picture_stream(path: Path, container: InputContainer) -> VideoStream:
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:  # the cover of a song is not a video
            continue
        if stream.codec_context is None:
            raise MediaError(f"{path}: its codec is not supported; {CONVERT}")
        return stream
    raise MediaError(f"{path}: has no video stream, only sound or data; {CONVERT}")


def _damaged(path: Path, count: int) -> MediaError:
    return MediaError(f"{path}: is damaged, decoding fails after {count} frames; {COPY_AGAIN} or convert it again")
