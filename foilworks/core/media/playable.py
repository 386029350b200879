"""Make a copy of a video that every browser shows alike: rewritten without loss if possible, else encoded again."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import av
from av.audio.stream import AudioStream
from av.bitstream import BitStreamFilterContext
from av.codec.context import Flags
from av.container import OutputContainer
from av.filter import Graph
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from foilworks.core.media.container import OpenVideo, open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.packets import packet_times
from foilworks.core.media.picture import (
    BT709,
    RGB,
    colour_tags,
    hdr_of,
    is_full_range,
    is_tagged,
    matrix_of,
    orientation,
)
from foilworks.core.media.probe import PLAYABLE_CODECS, PLAYABLE_SOUND, VideoFacts, probe
from foilworks.core.media.tone_mapping import write_table

# Fine enough for the clocks of all common containers, and what players expect of mp4.
CLOCK = Fraction(1, 90_000)
# Without B-frames, whose reordering makes mp4 state a duration that is too short if the rate varies.
OPTIONS = {"crf": "18", "preset": "veryfast", "threads": "1", "bf": "0"}
LIMITED_RANGE = 1
MP4, WEBM = "mp4", "webm"
FAST_START = {"movflags": "+faststart"}
# FFmpeg's filters that write colours into a stream without decoding it, by the H.273 codes.
_H273 = "colour_primaries={0}:transfer_characteristics={1}:matrix_coefficients={2}"
TAGGERS = {
    "h264": f"h264_metadata={_H273}:video_full_range_flag=0",
    "av1": f"av1_metadata={_H273.replace('colour', 'color')}:color_range=tv",
    "vp9": "vp9_metadata=color_space={3}:color_range=tv",
}
SOUND_RATE = 48_000
# Seconds by which a frame's time in the copy may differ from the original's.
SAME_TIME = 1_500
# The last frame's end is what containers round most.
SAME_END = 150_000


@dataclass(frozen=True)
class Playable:
    """The copy, its facts, and in one sentence how and why it was made."""

    path: Path
    facts: VideoFacts
    words: str


def make_playable(source: Path, facts: VideoFacts, folder: Path) -> Playable:
    """Write a copy of `source`, which has obstacles, into the folder.

    Every frame is there once, at its own second, the sound with it. MediaError: the file cannot be converted.
    OSError: the folder cannot be written.
    """
    reasons = "; ".join(obstacle.words for obstacle in facts.obstacles)
    if not any(obstacle.encode for obstacle in facts.obstacles):
        container = _container_for(facts)
        target = folder / f"rewritten.{container}"
        # A file that cannot be rewritten is encoded.
        with suppress(MediaError, av.error.FFmpegError, ValueError):
            rewrite(source, target)
            copy = probe(target)
            if copy.browser_playable and _same_frames(facts, copy) and copy.turn == facts.turn:
                sound = ", its sound as AAC" if copy.sound != facts.sound else ""
                return Playable(target, copy, f"Rewritten as {container} without loss{sound}: {reasons}.")
    target = folder / "encoded.mp4"
    lost = _encode_with_what_decodes(source, target)
    copy = probe(target)
    if not copy.browser_playable or not _same_frames(facts, copy):
        raise MediaError(f"{source}: cannot be converted frame by frame; give an mp4 (H.264) file")
    return Playable(target, copy, f"Encoded again as H.264{lost}: {reasons}.")


def _encode_with_what_decodes(source: Path, target: Path) -> str:
    """Encode with the sound, or without it if it cannot be decoded; the answer says so."""
    with suppress(av.error.FFmpegError):
        encode(source, target)
        return ""
    try:
        encode(source, target, with_sound=False)
    except av.error.FFmpegError as error:
        if isinstance(error, OSError):
            raise
        raise MediaError(f"{source}: cannot be converted ({error.strerror}); give an mp4 (H.264) file") from error
    return " without its sound, which cannot be decoded"


def _container_for(facts: VideoFacts) -> str:
    """webm for what came as webm or Matroska and may stay there, else mp4."""
    fits = facts.codec in PLAYABLE_CODECS[WEBM] and facts.sound in {"", *PLAYABLE_SOUND[WEBM]}
    stays = fits and not any(obstacle.avoid == WEBM for obstacle in facts.obstacles)
    is_webm = facts.container in {WEBM, "matroska"}
    return WEBM if (stays and is_webm) or facts.codec not in PLAYABLE_CODECS[MP4] else MP4


def _same_frames(facts: VideoFacts, copy: VideoFacts) -> bool:
    if facts.n_frames != copy.n_frames:
        return False
    pairs = zip(facts.clock.starts, copy.clock.starts, strict=True)
    late = max(abs(start - copied_start) for start, copied_start in pairs)
    return late <= SAME_TIME and abs(facts.clock.end - copy.clock.end) <= SAME_END


def rewrite(source: Path, target: Path) -> None:
    """Copy the packets of the picture and of the first sound into a container of the target's kind, from 0 on.

    A sound that the container's players do not know becomes AAC. MediaError or FFmpegError: it cannot be done.
    """
    tagger = _tagger(source)
    with open_video(source) as video, _writing(target, video.sound) as out:
        stream = _copied_stream(out, video.stream)
        tagged = BitStreamFilterContext(tagger, video.stream, stream) if tagger else None
        # The filter sets that of the source's container, which the copy's may not know.
        stream.codec_context.codec_tag = "\0\0\0\0"
        sound = _Sound(video, out, target.suffix[1:]) if video.sound else None
        read = [track for track in (video.stream, video.sound) if track is not None]
        pts, duration = _last_shown(source)
        for packet in video.container.demux(read):
            if packet.stream_index != video.stream.index:
                if sound is not None:
                    sound.take(packet)
            elif packet.size:
                if packet.pts is None:
                    raise MediaError(f"{source}: its packets have no times")
                if packet.pts == pts:
                    packet.duration = duration
                for tagged_packet in tagged.filter(packet) if tagged else [packet]:
                    out.mux(_shifted(tagged_packet, video.origin, stream, video.time_base))
        if sound is not None:
            sound.finish()


def _last_shown(path: Path) -> tuple[int, int]:
    """(pts, duration) in ticks of the frame that is shown last: containers other than mp4 may leave it out."""
    with open_video(path) as video:
        times = packet_times(video)
        pts = round((Fraction(times.starts[-1]) + video.origin) / video.time_base)
        return pts, max(1, round(Fraction(times.end - times.starts[-1]) / video.time_base))


def _writing(target: Path, sound: AudioStream | None) -> OutputContainer:
    """An mp4 counts all its times in ticks of the sound, since Firefox mixes up those of the movie and of a track."""
    options: dict[str, str] = {}
    if target.suffix == f".{MP4}":
        ticks = str(_sound_rate(sound, MP4))
        options = {**FAST_START, "movie_timescale": ticks, "video_track_timescale": ticks}
    return av.open(str(target), "w", container_options=options)


def _sound_rate(sound: AudioStream | None, container: str) -> int:
    """Samples per second of the sound in the copy."""
    return sound.rate if sound is not None and _is_kept(sound, container) else SOUND_RATE


def _is_kept(sound: AudioStream, container: str) -> bool:
    return sound.codec_context.codec.canonical_name in PLAYABLE_SOUND[container]


def _copied_stream(out: OutputContainer, stream: Any) -> Any:
    # Opaque: no encoder of the codec is needed.
    copied = out.add_stream_from_template(stream, opaque=True)
    copied.time_base = stream.time_base
    return copied


def _tagger(source: Path) -> str:
    """What writes into untagged pictures how browsers are to take their colours, in FFmpeg's words; "" if nothing."""
    with open_video(source) as video:
        frame = next((frame for _, frame in video.frames()), None)
        if frame is None or is_tagged(frame):
            return ""
        matrix = matrix_of(frame)
        form = TAGGERS.get(video.stream.codec_context.codec.canonical_name, "")
        return form.format(*colour_tags(frame, matrix), matrix, "bt709" if matrix == BT709 else "bt601")


def _shifted(packet: Packet, origin: Fraction, stream: Any, time_base: Fraction) -> Packet:
    """The packet on its way into a stream of the copy, `origin` seconds earlier."""
    packet.time_base = time_base
    ticks = round(origin / time_base)
    packet.pts = (packet.pts or 0) - ticks
    if packet.dts is not None:
        packet.dts -= ticks
    packet.stream = stream
    return packet


class _Sound:
    """The first sound of the file on its way into the copy: as it is, or as AAC."""

    def __init__(self, video: OpenVideo, out: OutputContainer, container: str) -> None:
        assert video.sound is not None
        self.origin, self.out = video.origin, out
        self.source = video.sound
        self.is_kept = _is_kept(self.source, container)
        if self.is_kept:
            self.stream = _copied_stream(out, self.source)
            return
        layout = "mono" if self.source.codec_context.layout.nb_channels == 1 else "stereo"
        self.stream = out.add_stream("aac", rate=SOUND_RATE, layout=layout)
        self.stream.bit_rate = 160_000
        self.resampler = av.AudioResampler(format="fltp", layout=layout, rate=SOUND_RATE)
        self.next: int | None = None

    def take(self, packet: Packet) -> None:
        if not self.is_kept:
            self._encode(packet.decode())
        elif packet.size and packet.pts is not None:
            self.out.mux(_shifted(packet, self.origin, self.stream, Fraction(packet.time_base)))

    def finish(self) -> None:
        if not self.is_kept:
            for frame in self.resampler.resample(None):
                self._write(frame)
            self.out.mux(self.stream.encode(None))

    def _encode(self, frames: Any) -> None:
        for frame in frames:
            if self.next is None and frame.pts is not None:
                start = Fraction(frame.pts) * Fraction(frame.time_base) - self.origin
                self.next = round(start * SOUND_RATE)
            # Gaps in a sound would move what follows; sounds of clips have none that is heard.
            frame.pts = None
            for resampled in self.resampler.resample(frame):
                self._write(resampled)

    def _write(self, frame: Any) -> None:
        frame.pts, frame.time_base = self.next or 0, Fraction(1, SOUND_RATE)
        self.next = (self.next or 0) + frame.samples
        self.out.mux(self.stream.encode(frame))


def encode(source: Path, target: Path, *, with_sound: bool = True) -> None:
    """Write `source` as H.264 yuv420p mp4: every frame once, at its own time, upright, in square pixels, with sound.

    Colours keep their matrix, or get the tag that browsers assume. The range is limited, which all browsers know. An
    odd last row or column is left out: yuv420p has none.

    MediaError or FFmpegError: `source` cannot be decoded. OSError: `target` cannot be written.
    """
    with open_video(source) as video, _writing(target, video.sound) as out:
        rate = video.stream.average_rate or Fraction(25)
        stream = out.add_stream("libx264", rate=rate, options=OPTIONS)
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = CLOCK
        stream.codec_context.flags |= Flags.frame_duration
        sound = _Sound(video, out, MP4) if video.sound and with_sound else None
        frames = _encodable(video, rate, _last_shown(source)[1] * video.time_base, target.parent)
        first = next(frames, None)
        if first is None:
            raise MediaError(f"{source}: contains no frames; copy it again from its source")
        _tag(stream, first)
        for frame in _chain(first, frames):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
        if sound is not None:
            _sound_of(source, sound)


def _sound_of(source: Path, sound: _Sound) -> None:
    """The sound is read again from the file: the picture's decoder has used its packets up."""
    with open_video(source) as video:
        for packet in video.container.demux(cast("AudioStream", video.sound)):
            sound.take(packet)
    sound.finish()


def _chain(first: VideoFrame, later_frames: Iterator[VideoFrame]) -> Iterator[VideoFrame]:
    yield first
    yield from later_frames


def _tag(stream: VideoStream, frame: VideoFrame) -> None:
    context = stream.codec_context
    stream.width, stream.height = frame.width, frame.height
    context.colorspace, context.color_range = frame.colorspace, frame.color_range
    context.color_primaries, context.color_trc = frame.color_primaries, frame.color_trc


def _encodable(video: OpenVideo, rate: Fraction, last: Fraction, folder: Path) -> Iterator[VideoFrame]:
    """Upright yuv420p frames with their times and durations; each is held back until the next one's time is known."""
    graph: _Upright | None = None
    pending_frame: VideoFrame | None = None
    for time, frame in video.frames():
        if graph is None:
            graph = _Upright(video, frame, folder)
        pts = round(_exact(max(0.0, time), rate, video.time_base) / CLOCK)
        upright_frame = graph.apply(frame)
        upright_frame.time_base, upright_frame.pts = CLOCK, pts
        if pending_frame is not None:
            # Two frames of one tick would be refused; a clock that runs backwards too.
            upright_frame.pts = max((pending_frame.pts or 0) + 1, pts)
            pending_frame.duration = upright_frame.pts - (pending_frame.pts or 0)
            yield pending_frame
        pending_frame = upright_frame
    if pending_frame is not None:
        pending_frame.duration = max(1, round(last / CLOCK))
        yield pending_frame


def _exact(time: float, rate: Fraction, tick: Fraction) -> float:
    """The time that was meant: on the grid of the frame rate, where the source's clock only rounded it away."""
    on_grid = round(time * rate) / rate
    return float(on_grid) if abs(float(on_grid) - time) <= float(tick) else time


class _Upright:
    """FFmpeg's filters that make a frame yuv420p, upright, with square pixels and even sides, its colours as they
    were.
    """

    def __init__(self, video: OpenVideo, first: VideoFrame, folder: Path) -> None:
        self.video, self.first, self.folder = video, first, folder
        matrix = matrix_of(first)
        # Pictures of red, green and blue become BT.709.
        self.matrix = BT709 if matrix == RGB else matrix
        self.is_full = matrix != RGB and is_full_range(first)
        self.hdr = hdr_of(first)
        self.graph = self._graph(first)

    def _graph(self, frame: VideoFrame) -> Graph:
        turn = orientation(self.video, frame)
        aspect = self.video.stream.sample_aspect_ratio or Fraction(1)
        width, height = max(1, round(frame.width * aspect)), frame.height
        if min(width, height) < 2:
            raise MediaError(f"{self.video.path}: {width} x {height} pixels are too few; use a larger video")
        graph = Graph()
        steps: list[Any] = [graph.add_buffer(template=self.video.stream)]
        colours = f"out_color_matrix={_NAMES.get(self.matrix, 'auto')}:out_range=tv"
        if not frame.format.is_rgb:
            colours += f":in_color_matrix={_NAMES.get(self.matrix, 'auto')}:in_range={'pc' if self.is_full else 'tv'}"
        wide, high = (side - side % 2 for side in (width, height))
        # What is left out is cut off before the colours are halved.
        steps.append(graph.add("crop", f"{max(1, frame.width * wide // width)}:{high}:0:0"))
        if self.hdr:
            # Colours are converted as red, green and blue, and written as BT.709.
            steps.append(graph.add("scale", f"{wide}:{high}:flags=area+accurate_rnd:{colours}"))
            steps.append(graph.add("format", "gbrp16le"))
            steps.append(graph.add("lut3d", file=str(self._table())))
            colours = "out_color_matrix=bt709:out_range=tv"
        steps.append(graph.add("scale", f"{wide}:{high}:flags=area+accurate_rnd:{colours}"))
        steps.append(graph.add("format", "yuv420p"))
        # Of the four ways to transpose, this one alone mirrors nothing.
        steps += [graph.add("transpose", "cclock_flip")] if turn.transposed else []
        steps += [graph.add("hflip")] if turn.flip_x else []
        steps += [graph.add("vflip")] if turn.flip_y else []
        steps.append(graph.add("buffersink"))
        for before, after in pairwise(steps):
            before.link_to(after)
        graph.configure()
        return graph

    def _table(self) -> Path:
        """Write the table of SDR colours beside the copy; the folder is removed with it."""
        path = self.folder / f"{self.hdr}.cube"
        write_table(path, self.hdr)
        return path

    def apply(self, frame: VideoFrame) -> VideoFrame:
        if (frame.width, frame.height, frame.format.name) != (
            self.first.width,
            self.first.height,
            self.first.format.name,
        ):
            frame = frame.reformat(width=self.first.width, height=self.first.height, format=self.first.format.name)
        self.graph.push(frame)
        upright_frame = cast("VideoFrame", self.graph.pull())
        matrix = BT709 if self.hdr else self.matrix
        upright_frame.colorspace, upright_frame.color_range = matrix, LIMITED_RANGE
        tags = (BT709, BT709) if self.hdr else colour_tags(self.first, matrix)
        upright_frame.color_primaries, upright_frame.color_trc = tags
        return upright_frame


# What the filter "scale" calls the matrices.
_NAMES = {1: "bt709", 4: "fcc", 5: "bt470", 6: "smpte170m", 7: "smpte240m", 9: "bt2020nc", 10: "bt2020nc"}
