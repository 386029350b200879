"""Cut, shift and repeat the packets of video files without encoding."""

from collections.abc import Callable
from pathlib import Path

import av


def copied(
    *, since: float = 0.0, shift: float = 0.0, last: float | None = None, options: dict[str, str] | None = None
) -> Callable[[Path, Path], None]:
    """Cuts without encoding: packets from the first key frame at or after `since` on, `shift` seconds later.

    `last`: seconds that the last packet lasts. Negative times become an edit list, where the container has such.
    """

    def edit(source: Path, target: Path) -> None:
        with av.open(str(source)) as old, av.open(str(target), "w", container_options=options or {}) as new:
            streams = {one.index: new.add_stream_from_template(one) for one in old.streams}
            begun = False
            packets = [packet for packet in old.demux() if packet.pts is not None]
            finals = {packet.stream_index: packet for packet in packets}
            for packet in packets:
                stream = old.streams[packet.stream_index]
                seconds = float(packet.pts * stream.time_base)
                if stream.type == "video":
                    begun = begun or (packet.is_keyframe and seconds >= since)
                if (stream.type == "video" and not begun) or seconds < since:
                    continue
                if last is not None and packet is finals[packet.stream_index]:
                    packet.duration = round(last / stream.time_base)
                packet.pts += round(shift / stream.time_base)
                if packet.dts is not None:
                    packet.dts += round(shift / stream.time_base)
                packet.stream = streams[packet.stream_index]
                new.mux(packet)

    return edit


def looped(laps: int) -> Callable[[Path, Path], None]:
    """Repeats all packets without encoding: a long film in a second."""

    def edit(source: Path, target: Path) -> None:
        with av.open(str(source)) as old, av.open(str(target), "w") as new:
            stream = new.add_stream_from_template(old.streams.video[0])
            packets = [packet for packet in old.demux() if packet.pts is not None]
            encoded = [(bytes(packet), packet.pts, packet.dts, packet.is_keyframe) for packet in packets]
            lap_ticks = sum(packet.duration for packet in packets)
            for lap in range(laps):
                for data, pts, dts, is_keyframe in encoded:
                    packet = av.Packet(data)
                    packet.pts, packet.dts = pts + lap * lap_ticks, dts + lap * lap_ticks
                    packet.time_base, packet.is_keyframe = packets[0].time_base, is_keyframe
                    packet.duration, packet.stream = packets[0].duration, stream
                    new.mux(packet)

    return edit
