"""Odd video files whose every frame says which one it is and which way up: what cameras, cutters and recorders write.

Each frame has red, green, blue and yellow corners and its number as black and white cells across the middle.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.media.hdr import sdr_colour
from tests.media.packet_edits import copied, looped

WIDTH, HEIGHT, CELL = 128, 64, 16
Pattern = tuple[tuple[tuple[int, int, int], ...], ...]
# Colours of the upper and of the lower row of a picture.
CORNERS: Pattern = (((200, 30, 30), (30, 160, 30)), ((30, 30, 200), (200, 200, 40)))
# Bars of 75 % in the order of ITU-R BT.2111, and grey from near black to white.
BARS: Pattern = (
    tuple((191 * r, 191 * g, 191 * b) for g, r, b in product((1, 0), repeat=3)),
    tuple((v, v, v) for v in (8, 43, 79, 114, 149, 185, 220, 255)),
)
N, RATE = 16, 8
os.environ.setdefault("SVT_LOG", "1")
MILLISECOND = Fraction(1, 1000)


@dataclass(frozen=True)
class OddFile:
    """`times`: seconds at which the frames begin, from the first one's; `turn`: (degrees, hflip, vflip) of the matrix.

    `laps`: how often `edit` repeats the frames. `trim`: seconds at which the clip in the file begins and ends.
    `cut`: bytes that stay (a share, negative: bytes that are added). `refused`: words of the import's complaint.
    `first`: number of the first frame that a player shows.
    """

    name: str
    codec: str = "libx264"
    pixels: str = "yuv420p"
    times: Sequence[float] = tuple(index / RATE for index in range(N))
    last: float = 1 / RATE
    size: tuple[int, int] = (WIDTH, HEIGHT)
    start: float = 0.0
    sound: str = ""
    sound_start: float = 0.0
    turn: tuple[int, bool, bool] = (0, False, False)
    colour: dict[str, int] = field(default_factory=dict)
    # The matrix of an untagged file.
    encoded_as: int = 5
    options: dict[str, str] = field(default_factory=dict)
    container_options: dict[str, str] = field(default_factory=dict)
    aspect: Fraction | None = None
    pattern: Pattern = CORNERS
    laps: int = 1
    trim: tuple[float | None, float | None] = (None, None)
    cut: float = 1.0
    tail: bytes = b""
    first: int = 0
    edit: Callable[[Path, Path], None] | None = None
    refused: str = ""
    format: str | None = None
    # Of codecs that lose much of the colours.
    tolerance: int = 24

    @property
    def shown(self) -> list[int]:
        """Numbers of the frames that a player shows."""
        start, end = self.trim
        lap_seconds = self.times[-1] + self.last
        times = [lap * lap_seconds + time for lap in range(self.laps) for time in self.times]
        inside = (n for n, time in enumerate(times) if (start or 0.0) <= time < (end or inf))
        return [n for n in inside if n >= self.first]


def painted(index: int, size: tuple[int, int] = (WIDTH, HEIGHT), pattern: Pattern = CORNERS) -> np.ndarray:
    """Frame number `index`, uint8 (height, width, 3) RGB."""
    width, height = size
    half = [np.repeat(np.array([colours], np.uint8), WIDTH // len(colours), axis=1) for colours in pattern]
    picture = np.repeat(np.concatenate(half), HEIGHT // 2, axis=0)
    for bit in range(8):
        picture[24:40, bit * CELL : (bit + 1) * CELL] = 230 if index >> bit & 1 else 20
    rows, columns = np.arange(height) * HEIGHT // height, np.arange(width) * WIDTH // width
    return np.ascontiguousarray(picture[rows][:, columns])


def expected(odd: OddFile, index: int) -> np.ndarray:
    """The frame as it is to be shown: its HDR colours as SDR, turned counter-clockwise, then mirrored."""
    degrees, hflip, vflip = odd.turn
    picture = np.rot90(painted(index % len(odd.times), pattern=odd.pattern), degrees // 90)
    if odd.colour.get("color_trc") in (16, 18):
        colours, places = np.unique(picture.reshape(-1, 3), axis=0, return_inverse=True)
        shown = [sdr_colour(colour, odd.colour["color_trc"]) for colour in colours.tolist()]
        picture = np.array(shown, np.uint8)[places].reshape(picture.shape)
    picture = picture[:, ::-1] if hflip else picture
    return picture[::-1] if vflip else picture


def grid(picture: np.ndarray, part: int = 6) -> np.ndarray:
    """Mean colours of 16 x 8 cells of the picture, of one part of each around its middle: (rows, columns, 3)."""
    height, width = picture.shape[:2]
    wide, high = (16, 8) if width >= height else (8, 16)
    found = np.empty((high, wide, 3))
    for row in range(high):
        for column in range(wide):
            y, x = (row + 0.5) * height / high, (column + 0.5) * width / wide
            dy, dx = max(1, height // high // part), max(1, width // wide // part)
            block = picture[max(0, int(y) - dy) : int(y) + dy, max(0, int(x) - dx) : int(x) + dx]
            found[row, column] = block.reshape(-1, 3).mean(axis=0)
    return found


def differs(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two grids, 0 to 255; 255 where one stands upright and the other does not."""
    return float(np.abs(one - other).max()) if one.shape == other.shape else 255.0


def make(odd: OddFile, folder: Path) -> Path:
    """Write the file and give its path."""
    path = folder / odd.name
    target = path if odd.edit is None else folder / f"whole-{odd.name}"
    _write(odd, target)
    if odd.edit is not None:
        odd.edit(target, path)
        target.unlink()
    if odd.cut < 1.0 or odd.tail:
        data = path.read_bytes()
        path.write_bytes(data[: round(len(data) * odd.cut)] + odd.tail)
    return path


@contextmanager
def _own_priority() -> Iterator[None]:
    """Undo what libsvtav1 does as root: it gives the thread that opens it real-time priority, which every process that
    this one starts later would inherit, and two of those on two cores stop everything else.
    """
    if not hasattr(os, "sched_setscheduler"):
        yield
        return
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, param)


def _write(odd: OddFile, path: Path) -> None:
    with (
        _own_priority(),
        av.open(str(path), "w", format=odd.format, container_options=odd.container_options) as container,
    ):
        stream = container.add_stream(odd.codec, rate=RATE, options={"g": "8", **_quality(odd), **odd.options})
        stream.width, stream.height = odd.size
        stream.pix_fmt = odd.pixels
        stream.codec_context.time_base = _clock(odd)
        for name, value in odd.colour.items():
            setattr(stream.codec_context, name, value)
        if odd.aspect:
            stream.codec_context.sample_aspect_ratio = odd.aspect
        if odd.turn != (0, False, False):
            stream.set_display_rotation(odd.turn[0], hflip=odd.turn[1], vflip=odd.turn[2])
        sound = container.add_stream(odd.sound, rate=48000, layout="mono") if odd.sound else None
        for packet in _interleaved(_pictures(odd, stream), _tones(odd, sound) if sound else iter(())):
            container.mux(packet)


def _clock(odd: OddFile) -> Fraction:
    if odd.name.endswith(".avi"):  # which counts frames
        return Fraction(1, RATE)
    return MILLISECOND if odd.codec in {"mpeg4", "wmv2"} else Fraction(1, 16000)


def _quality(odd: OddFile) -> dict[str, str]:
    return {
        "libx264": {"crf": "14", "preset": "veryfast", "threads": "1"},
        "libx265": {"crf": "12", "preset": "ultrafast", "x265-params": "log-level=none:pools=1"},
        "libsvtav1": {"crf": "15", "preset": "10", "svtav1-params": "lp=1"},
        "libvpx-vp9": {"crf": "8", "b": "0", "deadline": "realtime", "cpu-used": "8"},
        "libvpx": {"b": "2M", "deadline": "realtime", "cpu-used": "8"},
        "mpeg4": {"q:v": "2", "qmin": "2", "qmax": "2"},
        "wmv2": {"qmin": "2", "qmax": "2"},
    }.get(odd.codec, {})


def _pictures(odd: OddFile, stream: Any) -> Iterator[Any]:
    tick = stream.codec_context.time_base
    spans = [*np.diff(odd.times).tolist(), odd.last]
    for index, (time, span) in enumerate(zip(odd.times, spans, strict=True)):
        frame = av.VideoFrame.from_ndarray(painted(index, odd.size, odd.pattern), format="rgb24")
        if odd.pixels.startswith("yuv"):
            matrix = odd.colour.get("colorspace", 2)
            frame = frame.reformat(
                format=odd.pixels,
                dst_colorspace=odd.encoded_as if matrix == 2 else matrix,
                dst_color_range=odd.colour.get("color_range", 1),
            )
            frame.colorspace, frame.color_range = matrix, odd.colour.get("color_range", 0)
            frame.color_primaries, frame.color_trc = (
                odd.colour.get(f"color_{name}", 2) for name in ("primaries", "trc")
            )
        else:
            frame = frame.reformat(format=odd.pixels)
        frame.pts, frame.time_base = round((time + odd.start) / tick), tick
        frame.duration = round(span / tick)
        yield from stream.encode(frame)
    yield from stream.encode(None)


def _tones(odd: OddFile, sound: Any) -> Iterator[Any]:
    until = odd.times[-1] + odd.last + max(0.0, odd.start if odd.sound_start == 0.0 else 0.0)
    count, size = 0, 1024
    while count < until * 48000:
        tone = (np.sin(np.arange(count, count + size) * 2 * np.pi * 440 / 48000) * 8000).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(tone.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.time_base = 48000, Fraction(1, 48000)
        frame.pts = count + round(odd.sound_start * 48000)
        yield from sound.encode(frame)
        count += size
    yield from sound.encode(None)


def _interleaved(pictures: Iterator[Any], tones: Iterator[Any]) -> list[Any]:
    """Muxers order packets by themselves, as long as none comes too late."""
    packets = [*pictures, *tones]
    return sorted(packets, key=lambda packet: float((packet.dts or 0) * packet.time_base))


def shifted_times(start: int, count: int) -> list[float]:
    """Of the frames that stay, from the first one's."""
    return [index / RATE for index in range(count - start)]


UNEVEN = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 1.2, 2.2, 2.25, 2.3, 3.0)
SLIDES = (0.0, 1.0, 2.0)
BT709 = {"colorspace": 1, "color_primaries": 1, "color_trc": 1, "color_range": 1}
BT601 = {"colorspace": 6, "color_primaries": 6, "color_trc": 6, "color_range": 1}
FULL = {**BT709, "color_range": 2}
PQ = {"colorspace": 9, "color_primaries": 9, "color_trc": 16, "color_range": 1}
HLG = {**PQ, "color_trc": 18}
# Bars are large areas, so conversion and encoding change their colours less than those of small ones.
BARS_TOLERANCE = 8
HD = (1280, 720)
SHORT = tuple(index / RATE for index in range(4))
TURNS = tuple((degrees, mirrored, False) for degrees in (0, 90, 180, 270) for mirrored in (False, True))[1:]
NAMES_OF_TURNS = {turn: f"{turn[0]}{'-mirrored' if turn[1] else ''}" for turn in TURNS}
VP9, VP8, AV1, HEVC = "libvpx-vp9", "libvpx", "libsvtav1", "libx265"
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov"}
LIVE = {"live": "1"}
SPLIT = {"movflags": "negative_cts_offsets"}


def _plain() -> Iterator[OddFile]:
    for suffix in ("mp4", "mov", "mkv"):
        yield OddFile(f"h264.{suffix}", sound="aac")
    yield OddFile("h264-bframes.mp4", options={"bf": "3", "b-pyramid": "normal"})
    yield OddFile("h264.ts", sound="aac")
    yield OddFile("h264.avi", options={"bf": "0"})
    yield OddFile("h264.flv")
    yield OddFile("vp9.webm", VP9, sound="libopus")
    yield OddFile("vp9.mkv", VP9, sound="libopus")
    yield OddFile("vp9.mp4", VP9)
    yield OddFile("vp8.webm", VP8)
    yield OddFile("vp8.mkv", VP8, sound="libopus")
    yield OddFile("av1.mp4", AV1, sound="aac")
    yield OddFile("av1.webm", AV1, sound="libopus")
    yield OddFile("av1.mkv", AV1)
    yield OddFile("hevc.mp4", HEVC, sound="aac")
    yield OddFile("hevc.mov", HEVC)
    yield OddFile("hevc.mkv", HEVC, sound="flac")
    yield OddFile("h264-bframes.avi")
    yield OddFile("mpeg4.avi", "mpeg4", sound="libmp3lame")
    yield OddFile("mpeg4.mp4", "mpeg4")
    yield OddFile("wmv.asf", "wmv2", sound="libmp3lame")
    yield OddFile("prores.mov", "prores_ks", "yuv422p10le", sound="pcm_s16le")
    yield OddFile("mjpeg.mov", "mjpeg", "yuvj420p", colour={"color_range": 2, "colorspace": 5})
    yield OddFile("ffv1.mkv", "ffv1", "bgr0")
    yield OddFile("h264-444.mp4", pixels="yuv444p")
    yield OddFile("h264-10bit.mp4", pixels="yuv420p10le")
    yield OddFile("av1-10bit.mp4", AV1, "yuv420p10le")


OPEN = "open-gop=1:bframes=3:keyint=10:scenecut=0"


def groups() -> Iterator[OddFile]:
    """Pictures that refer to others in ways that seeking has to undo."""
    for suffix in ("mp4", "mov", "mkv", "ts", "flv"):
        yield _x264(f"open-gop.{suffix}", OPEN)
    yield _x264("open-gop-pyramid.mp4", f"{OPEN}:b-pyramid=strict:ref=4")
    yield _x264("open-gop-flat.mp4", "open-gop=1:bframes=1:b-pyramid=none:keyint=6:scenecut=0")
    # Its first group begins with pictures that refer to what was cut off: nobody shows them.
    yield OddFile("open-gop-cut.mp4", options={"x264-params": f"{OPEN}:b-adapt=0"}, first=10, edit=copied(since=0.9))
    yield _x264("recovery-points.mp4", "intra-refresh=1:keyint=10:bframes=0")
    yield _x264("recovery-points.mkv", "intra-refresh=1:keyint=10:bframes=0")
    yield _x264("one-group.mp4", "keyint=infinite:bframes=3:scenecut=0")
    yield _x264("all-intra.mp4", "keyint=1")
    yield _x264("closed-gop.mp4", "keyint=10:bframes=3:scenecut=0")
    yield _x264("many-references.mp4", "ref=8:bframes=5:keyint=20:scenecut=0")
    yield _x264("slices.mp4", "slices=4:keyint=10")
    yield _x264("cavlc.mp4", "cabac=0:keyint=10")
    yield _x264("weighted.mp4", "weightp=2:weightb=1:bframes=4:keyint=15")
    yield _x264("delimited.mp4", "aud=1:keyint=10")
    yield OddFile("open-gop-hevc.mp4", HEVC, options={"x265-params": f"log-level=none:pools=1:{OPEN}"})
    yield OddFile("one-group.webm", VP9, options={"g": "999"})
    yield OddFile("alternate-references.webm", VP9, options={"auto-alt-ref": "1", "lag-in-frames": "12"})
    yield OddFile("one-group-av1.mp4", AV1, options={"g": "-1"})


def _x264(name: str, params: str) -> OddFile:
    return OddFile(name, options={"x264-params": params})


def _starts() -> Iterator[OddFile]:
    for suffix, codec in (("mp4", "libx264"), ("mov", "libx264"), ("mkv", "libx264"), ("webm", VP9)):
        opus = "libopus" if suffix in {"webm", "mkv"} else "aac"
        yield OddFile(f"late-both.{suffix}", codec, edit=copied(shift=2.5))
        yield OddFile(f"late-picture.{suffix}", codec, start=1.5, sound=opus)
        yield OddFile(f"late-sound.{suffix}", codec, sound=opus, sound_start=0.7)
        yield OddFile(f"cut.{suffix}", codec, times=shifted_times(0, N), sound=opus, first=8, edit=copied(since=0.9))
    yield OddFile("edit-list.mp4", first=5, edit=copied(shift=-5 / RATE))
    yield OddFile("edit-list.mov", first=5, sound="aac", edit=copied(shift=-5 / RATE))
    yield OddFile("fragmented.mp4", options={"bf": "2"}, container_options=FRAGMENTED, sound="aac")
    yield OddFile("fragmented-cut.mp4", options={"bf": "2"}, first=8, edit=copied(since=0.9, options=FRAGMENTED))
    yield OddFile("live.webm", VP9, container_options=LIVE)
    yield OddFile("live.mkv", container_options=LIVE)
    yield OddFile("late.ts", container_options={"output_ts_offset": "30"})


def _rates() -> Iterator[OddFile]:
    for suffix, codec in (("mp4", "libx264"), ("mov", "libx264"), ("mkv", "libx264"), ("webm", VP9)):
        yield OddFile(f"uneven.{suffix}", codec, times=UNEVEN, last=0.7)
        yield OddFile(f"slides.{suffix}", codec, times=SLIDES, last=18.0, edit=copied(last=18.0))
    yield OddFile("uneven-bframes.mp4", times=UNEVEN, last=0.7, options={"bf": "2"})
    yield OddFile("uneven-hevc.mp4", HEVC, times=UNEVEN, last=0.7)
    yield OddFile("uneven-av1.mp4", AV1, times=UNEVEN, last=0.7)
    yield OddFile("one.mp4", times=(0.0,), last=0.2)
    yield OddFile("one.webm", VP9, times=(0.0,), last=0.2)
    yield OddFile("slow.mp4", times=(0.0, 2.0, 4.0, 6.0), last=2.0)
    yield OddFile("fast.mp4", times=tuple(index / 120 for index in range(24)), last=1 / 120)
    yield OddFile("ntsc.mp4", times=tuple(index * 1001 / 30000 for index in range(N)), last=1001 / 30000)
    yield OddFile("ntsc.webm", VP9, times=tuple(index * 1001 / 30000 for index in range(N)), last=1001 / 30000)


def _turns() -> Iterator[OddFile]:
    for turn in TURNS:
        for suffix in ("mp4", "mov") if turn in {(90, False, False), (0, True, False)} else ("mp4",):
            yield OddFile(f"turned-{NAMES_OF_TURNS[turn]}.{suffix}", turn=turn, times=SHORT)
    yield OddFile("turned-180-mirrored-hevc.mp4", HEVC, turn=(180, True, False), times=SHORT)
    yield OddFile("turned-90-hevc.mov", HEVC, turn=(90, False, False), times=SHORT)
    yield OddFile("turned-90.mkv", turn=(90, False, False), times=SHORT)
    yield OddFile("wide-pixels.mp4", size=(64, 64), aspect=Fraction(2), times=SHORT)
    yield OddFile("wide-pixels-hevc.mkv", HEVC, size=(64, 64), aspect=Fraction(2), times=SHORT)
    yield OddFile("odd-size.webm", VP9, size=(127, 63), times=SHORT)
    yield OddFile("odd-size.mkv", "ffv1", "yuv444p", size=(127, 63), times=SHORT)


def _colours() -> Iterator[OddFile]:
    yield OddFile("bt709-hevc.mp4", HEVC, size=HD, colour=BT709, times=SHORT)
    yield OddFile("bt709-h264.mp4", size=HD, colour=BT709, times=SHORT)
    yield OddFile("untagged-hd.mp4", size=HD, colour={"colorspace": 2}, encoded_as=1, times=SHORT)
    yield OddFile("untagged-hd-hevc.mp4", HEVC, size=HD, colour={"colorspace": 2}, encoded_as=1, times=SHORT)
    yield OddFile("untagged-hd.webm", VP9, size=HD, colour={"colorspace": 2}, encoded_as=1, times=SHORT)
    yield OddFile("untagged-hd-vp8.webm", VP8, size=HD, colour={"colorspace": 2}, times=SHORT)
    yield OddFile("untagged-hd-av1.mp4", AV1, size=HD, colour={"colorspace": 2}, encoded_as=1, times=SHORT)
    yield OddFile("bt601-hd.mp4", size=HD, colour=BT601, times=SHORT)
    yield OddFile("bt601-hd-hevc.mp4", HEVC, size=HD, colour=BT601, times=SHORT)
    yield OddFile("bt709-small.mp4", colour=BT709, times=SHORT)
    yield OddFile("bt709-small-hevc.mkv", HEVC, colour=BT709, times=SHORT)
    yield OddFile("bt709.webm", VP9, colour=BT709, times=SHORT)
    yield OddFile("full-range.mp4", pixels="yuvj420p", colour=FULL, times=SHORT)
    yield OddFile("full-range.webm", VP9, colour=FULL, times=SHORT)
    yield OddFile("full-range-av1.mp4", AV1, colour=FULL, times=SHORT)
    yield OddFile("bt709-av1.mp4", AV1, colour=BT709, times=SHORT)
    yield OddFile("full-range-hevc.mp4", HEVC, "yuvj420p", colour=FULL, times=SHORT)
    yield OddFile("pq.mp4", HEVC, "yuv420p10le", colour=PQ, times=SHORT)
    yield OddFile("hlg.mkv", HEVC, "yuv420p10le", colour=HLG, times=SHORT)
    yield OddFile("pq-av1.mp4", AV1, "yuv420p10le", colour=PQ, times=SHORT)
    yield _bars("pq-bars.mp4", HEVC, PQ)
    yield _bars("pq-bars-full-range.mp4", HEVC, {**PQ, "color_range": 2})
    yield _bars("pq-bars-rgb.mkv", "ffv1", {**PQ, "colorspace": 0, "color_range": 2}, "gbrp10le")
    # As phones turn them.
    yield _bars("hlg-bars-turned.mov", HEVC, HLG, turn=(90, False, False))
    yield _bars("hlg-bars.webm", AV1, HLG)
    yield _bars("hlg-bars-prores.mov", "prores_ks", HLG, "yuv422p10le")
    yield _bars("hlg-bars-h264.mp4", "libx264", HLG)
    yield _bars("hlg-bars-without-matrix.mkv", HEVC, {**HLG, "colorspace": 2}, encoded_as=9)


def _bars(name: str, codec: str, colour: dict[str, int], pixels: str = "yuv420p10le", **rest: Any) -> OddFile:
    fields = {"size": HD, "pattern": BARS, "times": SHORT, "tolerance": BARS_TOLERANCE, **rest}
    return OddFile(name, codec, pixels, colour=colour, **fields)


def _films() -> Iterator[OddFile]:
    """Three hours: more frames than a clip may have, a clip without an end, and a clip as long as the film."""
    times = tuple(index / RATE for index in range(64))
    yield OddFile("film.mp4", times=times, laps=1350, edit=looped(1350), trim=(10_791.0, 10_796.0))
    slow = tuple(8.0 * index for index in range(1350))
    yield OddFile("film-hlg.mov", HEVC, "yuv420p10le", slow, 8.0, colour=HLG, trim=(10_720.0, None))
    yield OddFile("film-whole.webm", VP9, times=tuple(450.0 * index for index in range(24)), last=450.0)


def _whole_or_not() -> Iterator[OddFile]:
    for suffix, codec in (("mp4", "libx264"), ("webm", VP9), ("mkv", "libx264"), ("avi", "libx264")):
        no_b = {"bf": "0"} if suffix == "avi" else {}
        yield OddFile(f"newline-behind.{suffix}", codec, tail=b"\n", times=SHORT, options=no_b)
        yield OddFile(f"junk-behind.{suffix}", codec, tail=bytes(range(256)) * 3, times=SHORT, options=no_b)
        share = 0.75 if suffix == "mkv" else 0.6
        yield OddFile(f"cut-short.{suffix}", codec, cut=share, refused="cut short", options=no_b)
    yield OddFile("cut-short.ts", cut=0.503, refused="cut short")
    yield OddFile("cut-short-live.webm", VP9, container_options=LIVE, cut=0.7, refused="cut short")


def odd_files() -> list[OddFile]:
    """All of them, each with a name of its own."""
    found = [*_plain(), *groups(), *_starts(), *_rates(), *_turns(), *_colours(), *_films(), *_whole_or_not()]
    assert len({odd.name for odd in found}) == len(found)
    return found
