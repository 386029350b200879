"""Read the times of a file's frames from its packets, without decoding."""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import av
import numpy as np

from foilworks.core.media.container import OpenVideo
from foilworks.core.media.errors import MediaError

# Of Matroska's tag DURATION: 00:00:20.000000000.
_HOURS = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")
_START_CODE = re.compile(rb"\x00\x00\x01(.)", re.DOTALL)
# Where static/foilworks/player.js seeks inside a frame, and what containers round.
INSIDE_S, MARGIN_S = 0.02, 0.0015
CHROMIUM_FRAMES = 16


@dataclass(frozen=True)
class PacketTimes:
    """`starts` of the frames that players show, ascending, and the `end` of the last one, in the clip's seconds.

    `overlap`: a frame states a duration that covers where a player seeks to show the next one. `hidden`: the file has
    further frames, which its edit list leaves out. `open_groups`: a group of pictures refers to the one before, so that
    browsers cannot start at it.
    """

    starts: tuple[float, ...]
    end: float
    overlap: bool = False
    hidden: bool = False
    open_groups: bool = False


def packet_times(video: OpenVideo) -> PacketTimes:
    """Read all packets of the picture. MediaError: the file is damaged or holds no frame."""
    shown_packets: list[tuple[int, int]] = []
    hidden = open_groups = False
    key_pts: int | None = None
    try:
        for packet in video.container.demux(video.stream):
            ticks = packet.dts if video.ticks else packet.pts
            hidden = hidden or packet.is_discard
            if packet.size and packet.is_keyframe:
                open_groups, key_pts = open_groups or not _is_instant(packet), packet.pts
            elif packet.size and key_pts is not None and packet.pts is not None:
                # A leading picture: it is shown before the key frame that it follows.
                open_groups = open_groups or packet.pts < key_pts
            if packet.size and ticks is not None and not packet.is_discard:
                shown_packets.append((ticks, packet.duration or 0))
    except av.error.FFmpegError as error:
        raise MediaError(f"{video.path}: is damaged; copy it again from its source or convert it again") from error
    if not shown_packets:
        raise MediaError(f"{video.path}: contains no frames; copy it again from its source")
    shown_packets.sort()
    starts = tuple(video.seconds(ticks) for ticks, _ in shown_packets)
    end = video.seconds(sum(shown_packets[-1]))
    durations = [duration * float(video.time_base) for _, duration in shown_packets]
    shortest = min((after - start for start, after in pairwise(starts)), default=0.0)
    # Encoders that were given no duration state a tick.
    is_meant = end > starts[-1] and end - starts[-1] >= shortest / 2
    end = end if is_meant else _stated_end(video, starts, shortest / 2)
    return PacketTimes(starts, end, _overlap(starts, durations), hidden, open_groups)


def _is_instant(packet: av.Packet) -> bool:
    """Return whether decoding can start at this key frame: of H.264, whether it is an IDR picture (type 5 of H.264,
    table 7-1) and no recovery point.
    """
    codec = packet.stream.codec_context
    if codec.name != "h264":
        return True
    data, extra = bytes(packet), codec.extradata or b""
    if not extra.startswith(b"\x01"):
        types = [match[1][0] & 31 for match in _START_CODE.finditer(data)]
    else:
        types, at, length_size = [], 0, (extra[4] & 3) + 1
        while at + length_size < len(data):
            types.append(data[at + length_size] & 31)
            at += length_size + int.from_bytes(data[at : at + length_size])
    slices = [kind for kind in types if 1 <= kind <= 5]
    return not slices or slices[0] == 5


def _overlap(starts: tuple[float, ...], durations: list[float]) -> bool:
    """Chromium drops the frames that end before the moment sought, and shows the first one left. It takes the mean gap
    of the last 16 frames for a duration that is not stated.
    """
    edges = np.array([*starts, starts[-1] + (durations[-1] or 1.0)])
    if len(starts) < 2:
        return False
    gaps = np.diff(edges)
    window = min(CHROMIUM_FRAMES, len(gaps) - 1)
    mean = float(np.convolve(gaps[:-1], np.ones(window) / window, "valid").max())
    lengths = np.array([duration or mean for duration in durations])
    sought = np.minimum(gaps[1:] / 2, INSIDE_S)
    return bool((edges[:-2] + lengths[:-1] > edges[1:-1] + sought + MARGIN_S).any())


def frame_rate(times: tuple[float, ...], video: OpenVideo) -> float:
    """Frames per second from the presentation times (sorted, seconds).

    Takes the declared rate if the times agree with it to one tick of their clock: webm rounds to milliseconds, and 24
    frames per second must not become 23.98.
    """
    declared = video.stream.average_rate or video.stream.guessed_rate
    if len(times) < 2 or times[-1] <= times[0]:
        return float(declared) if declared else 1.0
    span = times[-1] - times[0]
    if declared and abs((len(times) - 1) / float(declared) - span) <= float(video.time_base):
        return float(declared)
    return (len(times) - 1) / span


def _stated_end(video: OpenVideo, starts: tuple[float, ...], min_duration: float) -> float:
    """The end that the container states, if the last frame then lasts `min_duration` seconds; else one mean frame
    more."""
    stated_ends = [_tagged_end(video)]
    if video.sound is None and len(video.container.streams) == 1 and video.container.duration:
        begin = Fraction(video.container.start_time or 0, av.time_base)
        length = Fraction(video.container.duration, av.time_base)
        # WebM and FLV state the second of the end, other containers the length.
        states_end = video.container.format.name.startswith(("matroska", "flv"))
        stated_ends.append(float((length if states_end else begin + length) - video.origin))
    mean = starts[-1] + 1.0 / frame_rate(starts, video)
    return next((end for end in stated_ends if end > starts[-1] + min_duration), mean)


def _tagged_end(video: OpenVideo) -> float:
    match = _HOURS.match(video.stream.metadata.get("DURATION", ""))
    if match is None:
        return 0.0
    hours, minutes, seconds = match.groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds) - float(video.origin)
