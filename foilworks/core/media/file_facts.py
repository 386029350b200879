"""State what a video file says without its pictures: size, clock, encoder, sound."""

import re
from pathlib import Path

from foilworks.core.media.container import OpenVideo, open_video
from foilworks.core.media.packets import frame_rate, packet_times

# Bytes of the first packet that are searched for the settings that x264 and x265 write.
HEAD_BYTES = 4096
ENCODER = re.compile(rb"x26[45][ -][\x20-\x7e]{8,}")
# x264 derives it from the frame rate.
BY_RATE = re.compile(r" keyint_min=\d+")


def file_facts(path: Path) -> dict[str, str | float]:
    """Return name -> word or number: bytes, seconds, bits and frames per second, frames, pixels, encoder, sound.

    Reads packets and decodes nothing. MediaError: not a whole video.
    """
    size = path.stat().st_size if path.is_file() else 0
    with open_video(path) as video:
        encoder = _encoder(video)
        sound = video.sound.codec_context.name if video.sound is not None else "none"
        codec = f"{video.stream.codec_context.name} {video.stream.codec_context.profile or ''}".strip()
        pixels = f"{video.stream.width} x {video.stream.height}"
    with open_video(path) as video:
        times = packet_times(video)
        rate = frame_rate(times.starts, video)
    seconds = times.end - times.starts[0]
    return {
        "bytes": float(size),
        "seconds": round(seconds, 3),
        "bits per second": size * 8 / seconds if seconds > 0 else 0.0,
        "frames per second": round(rate, 2),
        "frames": float(len(times.starts)),
        "pixels": pixels,
        "codec": codec,
        "encoder": encoder,
        "sound": sound,
    }


def _encoder(video: OpenVideo) -> str:
    """Return what the container and the stream name as their encoder, with the settings in the first packet."""
    named = [source.metadata.get("encoder", "") for source in (video.container, video.stream)]
    packet = next((packet for packet in video.container.demux(video.stream) if packet.size), None)
    settings = ENCODER.search(bytes(packet)[:HEAD_BYTES]) if packet is not None else None
    return " | ".join([*named, BY_RATE.sub("", settings.group().decode()) if settings else ""])
