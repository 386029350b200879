"""One frame as a picture file: the object check shows stills."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from media.errors import MediaError
from media.frames import END_TOLERANCE_S, sample_frames

# Longest side of a stored picture, in pixels: enough to judge, small enough to send.
MAX_SIDE = 1280


def frame_at(path: Path, time: float) -> np.ndarray:
    """The frame on screen at `time` seconds of the file: uint8 (height, width, 3) RGB, as shown.

    MediaError: an unusable file, or a time outside of it.
    """
    # The sampler takes the middle of a span, which may not be empty.
    return sample_frames(path, 1, time, time + 4 * END_TOLERANCE_S).frames[0]


def jpeg(picture: np.ndarray, quality: int = 4) -> bytes:
    """The picture, uint8 (height, width, 3) RGB, as JPEG; `quality` 2 (best) .. 31. Larger ones are scaled down.

    The same picture gives the same bytes. MediaError where it cannot be encoded.
    """
    height, width = picture.shape[:2]
    scale = min(1.0, MAX_SIDE / max(height, width))
    # Chroma is halved, so sides are even.
    wide, high = (max(2, round(side * scale / 2) * 2) for side in (width, height))
    codec = av.CodecContext.create("mjpeg", "w")
    codec.width, codec.height, codec.pix_fmt = wide, high, "yuvj420p"
    codec.time_base = Fraction(1, 25)
    codec.options = {"qmin": str(quality), "qmax": str(quality)}
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    try:
        packets = [*codec.encode(frame.reformat(width=wide, height=high, format="yuvj420p")), *codec.encode(None)]
    except av.error.FFmpegError as error:
        raise MediaError(f"the picture cannot be encoded ({error}); free memory and try again") from error
    return b"".join(bytes(packet) for packet in packets)
