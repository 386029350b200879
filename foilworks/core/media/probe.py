"""Find out what a video file is by decoding it: containers may omit or misstate facts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import av
from av.video.frame import VideoFrame

from foilworks.core.media.clock import Clock, micro
from foilworks.core.media.container import OpenVideo, open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.indexes import has_index, misreads_late_start
from foilworks.core.media.packets import PacketTimes, frame_rate, packet_times
from foilworks.core.media.picture import (
    HD_HEIGHT,
    UPRIGHT,
    Orientation,
    display_size,
    hdr_of,
    is_full_range,
    is_tagged,
    orientation,
)
from foilworks.core.media.truncation import has_fragments

# What Chromium, Firefox and Safari all play: HEVC and MPEG-4 Part 2 do not.
PLAYABLE_PIXELS = {
    "h264": frozenset({"yuv420p", "yuvj420p"}),
    "vp8": frozenset({"yuv420p"}),
    "vp9": frozenset({"yuv420p", "yuv420p10le"}),
    "av1": frozenset({"yuv420p", "yuv420p10le"}),
}
PLAYABLE_CODECS = {"mp4": frozenset({"h264", "vp9", "av1"}), "webm": frozenset({"vp8", "vp9", "av1"})}
PLAYABLE_SOUND = {"mp4": frozenset({"aac", "mp3", "opus", "flac"}), "webm": frozenset({"opus", "vorbis"})}
# Seconds that a frame's time by its packet and by its decoder may differ.
SAME_TIME_S = 0.0015


class Obstacle(NamedTuple):
    """Why browsers do not show the file as it is. `encode`: rewriting the container does not help; `avoid`: a container
    that cannot hold it right.
    """

    words: str
    encode: bool = False
    avoid: str = ""


@dataclass(frozen=True)
class VideoFacts:
    """`duration` in seconds from 0 to the last frame's end, `fps` the mean rate, `n_frames` counted by decoding,
    `width` and `height` in pixels as shown, `time_base` seconds of one pts tick, `origin` the pts second of its 0.
    """

    sha256: str
    size_bytes: int
    duration: float
    fps: float
    n_frames: int
    width: int
    height: int
    container: str
    codec: str
    time_base: Fraction
    origin: Fraction
    clock: Clock
    sound: str = ""
    turn: Orientation = UPRIGHT
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def browser_playable(self) -> bool:
        """Whether every browser shows each frame of the file at the clip's own second."""
        return not self.obstacles

    def seconds(self, pts: float) -> float:
        """The clip's second of a trim that a dataset gives in pts ticks."""
        return float(Fraction(pts) * self.time_base - self.origin)

    def frame_start(self, number: float) -> float:
        """The clip's second at which a frame (from 0) begins."""
        return self.clock.seconds(number)


def probe(path: Path) -> VideoFacts:
    """Decode the whole file once and state its facts. MediaError, in one line, for anything that is not a
    whole video: missing, empty, cut short, damaged, not a video, no picture stream.
    """
    path = Path(path)
    with open_video(path) as video:
        packets = packet_times(video)
    with open_video(path) as video:
        first: VideoFrame | None = None
        times: list[float] = []
        for time, frame in video.frames():
            if first is None:
                first = frame
            times.append(time)
        if first is None:
            raise MediaError(f"{path}: contains no frames; copy it again from its source")
        clock = _clock(times, packets, video)
        digest, size = file_sha256(path)
        width, height = display_size(video, first)
        return VideoFacts(
            sha256=digest,
            size_bytes=size,
            duration=clock.seconds(clock.n_frames),
            fps=frame_rate(tuple(times), video),
            n_frames=len(times),
            width=width,
            height=height,
            container=container_name(video),
            codec=codec_name(video),
            time_base=video.time_base,
            origin=video.origin,
            clock=clock,
            sound=sound_name(video),
            turn=orientation(video, first),
            obstacles=tuple(_obstacles(video, first, times, packets)),
        )


def _clock(times: Sequence[float], packets: PacketTimes, video: OpenVideo) -> Clock:
    starts: list[int] = []
    for start in micro(times):
        # Two frames of one moment, or a clock that runs backwards.
        starts.append(max(start, starts[-1] + 1) if starts else max(0, start))
    end = max(micro([packets.end])[0], starts[-1] + 1)
    return Clock(tuple(starts), end, max(0, micro([float(video.origin)])[0]))


def _obstacles(video: OpenVideo, first: VideoFrame, times: Sequence[float], packets: PacketTimes) -> list[Obstacle]:
    container, codec, sound = container_name(video), codec_name(video), sound_name(video)
    pixels = video.stream.codec_context.pix_fmt or ""
    obstacles = []
    if container not in PLAYABLE_CODECS:
        obstacles.append(Obstacle(f"browsers do not play {container} files"))
    if name := hdr_of(first):
        obstacles.append(Obstacle(f"its HDR colours ({name}) are converted to SDR by a fixed tone curve", encode=True))
    if pixels not in PLAYABLE_PIXELS.get(codec, ()):
        obstacles.append(Obstacle(f"browsers do not play {codec} with {pixels} pixels", encode=True))
    else:
        if codec not in PLAYABLE_CODECS.get(container, {codec}):
            obstacles.append(Obstacle(f"browsers do not play {codec} in {container} files"))
        obstacles += _colour_obstacles(codec, first)
    if sound and sound not in PLAYABLE_SOUND.get(container, {sound}):
        obstacles.append(Obstacle(f"browsers do not play its sound ({sound})"))
    if orientation(video, first).is_mirrored:
        obstacles.append(Obstacle("the picture is mirrored by its display matrix", encode=True))
    if video.origin:
        obstacles.append(Obstacle(f"the file starts at {float(video.origin):.3f} s"))
    if len(video.container.streams.video) > 1:
        obstacles.append(Obstacle("it has several pictures"))
    if _differ(times, packets.starts):
        obstacles.append(Obstacle("not every packet gives a frame at its own time", encode=True))
    if packets.overlap:
        obstacles.append(Obstacle("its frames state longer durations than they have", avoid="webm"))
    if packets.hidden:
        obstacles.append(Obstacle("its edit list hides frames, which some browsers show", encode=True))
    if packets.open_groups:
        obstacles.append(Obstacle("browsers cannot seek in its open groups of pictures", encode=True))
    if container == "mp4" and misreads_late_start(video.path):
        obstacles.append(Obstacle("some browsers misread how late its picture or sound starts"))
    if container == "webm" and not has_index(video.path):
        obstacles.append(Obstacle("it has no index to seek by"))
    if container == "mp4" and has_fragments(video.path):
        obstacles.append(Obstacle("it is written in fragments"))
    stated_duration = video.container.duration
    if stated_duration is not None and float(Fraction(stated_duration, av.time_base)) < times[-1] - SAME_TIME_S:
        obstacles.append(Obstacle("the file states a shorter duration than its frames have"))
    return obstacles


def _colour_obstacles(codec: str, first: VideoFrame) -> list[Obstacle]:
    """What browsers guess differently. Files that are encoded again for another reason get their colours named, too."""
    if is_full_range(first):
        return [Obstacle("some browsers take its full range of colours for the limited one", encode=True)]
    if codec == "vp8" and first.height >= HD_HEIGHT:
        return [Obstacle("browsers take the colours of large vp8 pictures differently", encode=True)]
    if not is_tagged(first):
        return [Obstacle("it does not name its colour matrix, which browsers guess")]
    return []


def _differ(times: Sequence[float], packet_starts: Sequence[float]) -> bool:
    """Return whether two lists of seconds are of different frames, or one has two frames at one moment."""
    if len(times) != len(packet_starts) or any(after <= before for before, after in pairwise(times)):
        return True
    return any(abs(time - packet_time) > SAME_TIME_S for time, packet_time in zip(times, packet_starts, strict=True))


def file_sha256(path: Path) -> tuple[str, int]:
    """(SHA-256 as 64 hex digits, size in bytes) of a file, read in blocks. OSError when it cannot be read."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


def codec_name(video: OpenVideo) -> str:
    """The codec's own name, not that of the decoder that happens to be used: av1, not libdav1d."""
    return video.stream.codec_context.codec.canonical_name


def sound_name(video: OpenVideo) -> str:
    """The first sound's codec, "" for a silent file."""
    return video.sound.codec_context.codec.canonical_name if video.sound else ""


def container_name(video: OpenVideo) -> str:
    """mp4, webm, matroska …: what the bytes are, whatever the file is called."""
    names = video.container.format.name.split(",")
    if "mp4" in names:
        return "mp4"
    if "webm" in names:  # one name covers both; the file's own head tells them apart
        with video.path.open("rb") as file:
            return "webm" if b"webm" in file.read(64) else "matroska"
    return names[0]
