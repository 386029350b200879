"""Other choices of frames than media.frames makes: consecutive ones, and the middles of intervals of fixed length."""

from pathlib import Path

import numpy as np

from media.container import open_video
from media.errors import MediaError
from media.frames import Sample, _on_screen, _trim, shown_pixels

CONSECUTIVE_POLICY = "consecutive-from-start/1"
INTERVAL_POLICY = "interval-middles/2"


def consecutive_frames(
    path: Path, k: int, start: float | None = None, end: float | None = None, size: tuple[int, int] | None = None
) -> Sample:
    """The first k frames that begin inside [start, end), as decoded; a clip with fewer repeats its last.

    MediaError: an unusable file, or a trim outside of it. ValueError: k < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; at least one frame must be asked for")
    begin, finish = _trim(Path(path), start, end)
    images: list[np.ndarray] = []
    times: list[float] = []
    with open_video(Path(path)) as video:
        half_tick = float(video.time_base) / 2
        for time, frame in video.frames():
            if time >= finish - half_tick or len(images) == k:
                break
            if time >= begin - half_tick:
                images.append(shown_pixels(video, frame, size))
                size = images[0].shape[:2]
                times.append(time)
    if not images:
        raise MediaError(f"{path}: no frame begins between {begin:g} and {finish:g} s; correct the trim")
    missing = k - len(images)
    return Sample(np.stack(images + images[-1:] * missing), np.array(times + times[-1:] * missing))


def interval_frames(
    path: Path,
    seconds: float,
    start: float | None = None,
    end: float | None = None,
    size: tuple[int, int] | None = None,
) -> Sample:
    """The frame in the middle of each whole interval of `seconds` in [start, end); of a shorter clip its central one.

    ViLMA, appendix A (Merlot Reserve: 5 seconds). MediaError as above. ValueError: seconds <= 0.
    """
    if seconds <= 0:
        raise ValueError(f"an interval of {seconds} s has no middle")
    begin, finish = _trim(Path(path), start, end)
    # 16.4 - 1.4 is a hair less than 15: three intervals of 5 seconds all the same.
    whole = int((finish - begin) / seconds + 1e-6)
    middles = [begin + (place + 0.5) * seconds for place in range(whole)] or [(begin + finish) / 2]
    with open_video(Path(path)) as video:
        picked = list(_on_screen(video, middles, size))
    return Sample(np.stack([image for _, image in picked]), np.array([time for time, _ in picked]))
