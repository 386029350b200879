"""Read the sound of a clip, as models that hear take it."""

import io
import os
import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from foilworks.core.media.container import open_video
from foilworks.core.media.errors import MediaError

# Samples per second, one channel, 16 bits: what speech models take.
RATE = 16_000


def read_sound(path: os.PathLike[str], start: float | None = None, end: float | None = None) -> bytes:
    """Return the sound between two times in seconds (None: to the limit) as a WAV file; b"" if the clip has none.

    It is mono, RATE samples per second. MediaError: the file cannot be read.
    """
    first = round((start or 0.0) * RATE)
    last = None if end is None else round(end * RATE)
    pieces: list[np.ndarray] = []
    with open_video(Path(path)) as video:
        if video.sound is None:
            return b""
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        at: int | None = None
        try:
            for frame in video.container.decode(video.sound):
                if at is None:
                    at = round((Fraction(frame.pts or 0) * Fraction(frame.time_base or 1) - video.origin) * RATE)
                for samples in (part.to_ndarray()[0] for part in resampler.resample(frame)):
                    pieces.append(samples[max(0, first - at) : None if last is None else max(0, last - at)])
                    at += len(samples)
                if last is not None and at >= last:
                    break
        except av.FFmpegError as error:
            raise MediaError(f"{path}: its sound cannot be decoded; convert the file") from error
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(np.concatenate(pieces).astype("<i2").tobytes() if pieces else b"")
    return file.getvalue() if any(map(len, pieces)) else b""
