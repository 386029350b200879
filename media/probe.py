"""What a video file is, found by decoding it: containers may leave out, or get wrong, what they say of
themselves.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from av.video.frame import VideoFrame

from media.container import OpenVideo, open_video
from media.errors import MediaError

# What Chromium, Firefox and Safari all play: HEVC and MPEG-4 Part 2 do not.
PLAYABLE_PIXELS = {
    "h264": frozenset({"yuv420p", "yuvj420p"}),
    "vp8": frozenset({"yuv420p"}),
    "vp9": frozenset({"yuv420p", "yuv420p10le"}),
    "av1": frozenset({"yuv420p", "yuv420p10le"}),
}
PLAYABLE_CODECS = {"mp4": frozenset({"h264", "vp9", "av1"}), "webm": frozenset({"vp8", "vp9", "av1"})}


@dataclass(frozen=True)
class VideoFacts:
    """`duration` in seconds, `fps` in frames a second, `n_frames` counted by decoding, `width` and `height`
    in pixels as shown (rotation and pixel shape applied), `time_base` seconds of one pts tick, `origin` the
    pts second that a player shows as 0.
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
    browser_playable: bool
    time_base: Fraction
    origin: Fraction

    def seconds(self, pts: float) -> float:
        """Player seconds of a trim that a dataset gives in pts ticks."""
        return float(Fraction(pts) * self.time_base - self.origin)

    def frame_start(self, number: float) -> float:
        """Player second at which a frame (from 0) begins, at the file's mean rate: where it varies, nearly so."""
        return max(0.0, self.duration - (self.n_frames - number) / self.fps)


def probe(path: Path) -> VideoFacts:
    """Decode the whole file once and state its facts. MediaError, in one line, for anything that is not a
    whole video: missing, empty, cut short, damaged, not a video, no picture stream.
    """
    path = Path(path)
    with open_video(path) as video:
        times: list[float] = []
        shown = (0, 0)
        for time, frame in video.frames():
            if not times:
                shown = display_size(video, frame)
            times.append(time)
        if not times:
            raise MediaError(f"{path}: holds no frame; copy it again from its source")
        codec, container = video.stream.codec_context.name, _container(video)
        digest, size = file_sha256(path)
        return VideoFacts(
            sha256=digest,
            size_bytes=size,
            duration=clip_end(times, video),
            fps=frame_rate(times, video),
            n_frames=len(times),
            width=shown[0],
            height=shown[1],
            container=container,
            codec=codec,
            browser_playable=_browser_playable(video, container, codec),
            time_base=video.time_base,
            origin=video.origin,
        )


def file_sha256(path: Path) -> tuple[str, int]:
    """(SHA-256 as 64 hex digits, size in bytes) of a file, read in blocks. OSError when it cannot be read."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


def frame_rate(times: Sequence[float], video: OpenVideo) -> float:
    """Frames a second from the presentation times (sorted, seconds).

    The declared rate is taken where the times agree with it to one tick of their clock: webm rounds to
    milliseconds, and 24 frames a second must not become 23.98.
    """
    declared = video.stream.average_rate or video.stream.guessed_rate
    if len(times) < 2 or times[-1] <= times[0]:
        return float(declared) if declared else 1.0
    span = times[-1] - times[0]
    if declared and abs((len(times) - 1) / float(declared) - span) <= float(video.time_base):
        return float(declared)
    return (len(times) - 1) / span


def clip_end(times: Sequence[float], video: OpenVideo) -> float:
    """The second at which the last frame leaves the screen: its time plus one mean frame."""
    return times[-1] + 1.0 / frame_rate(times, video)


def display_size(video: OpenVideo, frame: VideoFrame) -> tuple[int, int]:
    """(width, height) in pixels as a player shows the frame: pixel shape and rotation applied."""
    aspect = video.stream.sample_aspect_ratio or Fraction(1)
    width, height = max(1, round(frame.width * aspect)), frame.height
    return (height, width) if frame.rotation % 180 else (width, height)


def _container(video: OpenVideo) -> str:
    """mp4, webm, matroska …: what the bytes are, whatever the file is called."""
    names = video.container.format.name.split(",")
    if "mp4" in names:
        return "mp4"
    if "webm" in names:  # one name covers both; the file's own head tells them apart
        with video.path.open("rb") as file:
            return "webm" if b"webm" in file.read(64) else "matroska"
    return names[0]


def _browser_playable(video: OpenVideo, container: str, codec: str) -> bool:
    pixels = video.stream.codec_context.pix_fmt or ""
    return codec in PLAYABLE_CODECS.get(container, ()) and pixels in PLAYABLE_PIXELS[codec]
