"""The policies that choose a clip's frames, by name, each with a version that is part of every cache key."""

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame

from foilworks.core.media.container import open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import (
    SAMPLING_POLICY,
    Sample,
    Span,
    bin_centres,
    frames_on_screen,
    span_of,
    trim_of,
)
from foilworks.core.media.maker_frames import RULES
from foilworks.core.media.picture import shown_pixels
from foilworks.core.text.quoting import quoted

CONSECUTIVE_POLICY = "consecutive-window/2"
INTERVAL_POLICY = "interval-middles/3"
PER_SECOND_POLICY = "per-second/1"


def consecutive_frames(
    path: Path,
    k: int,
    start: float | None = None,
    end: float | None = None,
    size: tuple[int, int] | None = None,
    content: str = "",
) -> Sample:
    """k frames on end of those that begin inside [start, end), as decoded; a clip with fewer repeats its last.

    Where they begin is drawn, each place as likely as another, by `content` and the trim; as in ViLMA's released code
    (`sample_frame_indices`) the last frame of a longer clip is never among them.
    MediaError: an unusable file, or a trim outside of it. ValueError: k < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; request at least one frame")
    begin, finish = trim_of(Path(path), start, end)
    edges = "-".join("" if edge is None else repr(float(edge)) for edge in (start, end))
    draw = random.Random(f"{content}@{edges}")
    window: deque[tuple[float, VideoFrame]] = deque(maxlen=k)
    drawn_window: list[tuple[float, VideoFrame]] = []
    images: list[np.ndarray] = []
    n_windows = 0
    with open_video(Path(path)) as video:
        half_tick = float(video.time_base) / 2
        for time, frame in video.frames():
            if time >= finish - half_tick:
                break
            if time < begin - half_tick:
                continue
            # The n-th of the windows that a frame follows replaces the one before with a chance of 1/n: in the end all
            # have had the same, and the clip's length need not be known.
            if len(window) == k:
                n_windows += 1
                drawn_window = list(window) if draw.random() * n_windows < 1 else drawn_window
            window.append((time, frame))
        sampled = drawn_window or list(window)
        for _, frame in sampled:
            images.append(shown_pixels(video, frame, size))
            size = images[0].shape[:2]
    if not images:
        raise MediaError(f"{path}: no frame begins between {begin:g} and {finish:g} s; correct the trim")
    times = [time for time, _ in sampled]
    missing = k - len(images)
    return Sample(np.stack(images + images[-1:] * missing), np.array(times + times[-1:] * missing))


def interval_middles(begin: float, finish: float, seconds: float) -> list[float]:
    """Return the middle of each whole interval; of a shorter clip its own middle.

    Merlot Reserve takes 5 seconds (ViLMA, Sec. A.4). ValueError: seconds <= 0.
    """
    if seconds <= 0:
        raise ValueError(f"an interval of {seconds} s has no middle")
    # 16.4 - 1.4 is a hair less than 15: three intervals of 5 seconds all the same.
    n_intervals = int((finish - begin) / seconds + 1e-6)
    return [begin + (interval + 0.5) * seconds for interval in range(n_intervals)] or [(begin + finish) / 2]


CENTRES, CONSECUTIVE, INTERVALS, PER_SECOND = "centres", "consecutive", "intervals", "per-second"
VERSIONS: Mapping[str, str] = {
    CENTRES: SAMPLING_POLICY,
    CONSECUTIVE: CONSECUTIVE_POLICY,
    INTERVALS: INTERVAL_POLICY,
    PER_SECOND: PER_SECOND_POLICY,
    **{rule: f"{rule}/1" for rule in RULES},
}


@dataclass(frozen=True)
class Sampling:
    """`centres` of k equal time bins, k `consecutive` frames from a drawn place, or the middles of `intervals` of so
    many seconds (which give as many frames as the clip has intervals).

    `per-second`: one frame per `seconds`, at most `frames`, at the centres of as many equal bins. The names of RULES:
    what the makers of a model show it, at most `frames`, one per `seconds` unless that is 0.
    """

    policy: str
    frames: int = 0
    seconds: float = 0.0

    @property
    def version(self) -> str:
        """Names the choice whole: another version, another choice."""
        amount = f"{self.frames}"
        if self.seconds and self.policy not in (CENTRES, CONSECUTIVE):
            amount = f"{self.seconds:g} s" + (f", at most {amount}" if self.policy != INTERVALS else "")
        return f"{VERSIONS[self.policy]} of {amount}"

    @property
    def is_drawn(self) -> bool:
        """Whether the choice depends on the video's content."""
        return self.policy == CONSECUTIVE

    def moments(self, span: Span) -> list[float]:
        """Return the seconds of the chosen frames, ascending; only for choices that are not drawn."""
        begin, finish, frame_starts = span
        if self.policy in RULES:
            rate = len(frame_starts) / (finish - begin)
            numbers = RULES[self.policy](len(frame_starts), rate, self.frames, 1 / self.seconds if self.seconds else 0)
            return [frame_starts[number] for number in numbers]
        if self.policy == CENTRES:
            return bin_centres(begin, finish, self.frames)
        if self.policy == PER_SECOND:
            # 16.4 - 1.4 is a hair less than 15: fifteen frames at one per second all the same.
            return bin_centres(begin, finish, max(1, min(self.frames, int((finish - begin) / self.seconds + 1e-6))))
        return interval_middles(begin, finish, self.seconds)

    def sample(
        self,
        path: PathLike[str],
        start: float | None = None,
        end: float | None = None,
        size: tuple[int, int] | None = None,
        content: str = "",
    ) -> Sample:
        """Frames of [start, end) in player seconds; `size` (height, width), None = as shown. MediaError: unusable.

        `content`: the SHA-256 of the video's bytes, by which is drawn what is drawn.
        """
        if self.policy not in VERSIONS:
            raise MediaError(f"sampling {quoted(self.policy)} is unknown; choose one of: {', '.join(VERSIONS)}")
        file = Path(path)
        span = span_of(file, start, end)
        if self.is_drawn:
            sample = consecutive_frames(file, self.frames, start, end, size, content)
        else:
            sample = frames_on_screen(file, [(self.moments(span), size)])[0]
        return sample._replace(seconds=span.finish - span.begin)
