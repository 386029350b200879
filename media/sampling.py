"""Which frames of a clip are taken: the policies by name, each with its version, which is part of every cache key."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from media.errors import MediaError
from media.frames import SAMPLING_POLICY, Sample, sample_frames
from media.schedules import CONSECUTIVE_POLICY, INTERVAL_POLICY, consecutive_frames, interval_frames

CENTRES, CONSECUTIVE, INTERVALS = "centres", "consecutive", "intervals"
VERSIONS: Mapping[str, str] = {
    CENTRES: SAMPLING_POLICY,
    CONSECUTIVE: CONSECUTIVE_POLICY,
    INTERVALS: INTERVAL_POLICY,
}


@dataclass(frozen=True)
class Sampling:
    """`centres` of k equal time bins, k `consecutive` frames from a drawn place, or the middles of `intervals` of so
    many seconds (which give as many frames as the clip has intervals)."""

    policy: str
    frames: int = 0
    seconds: float = 0.0

    @property
    def version(self) -> str:
        """Names the choice whole: another version, another choice."""
        amount = f"{self.seconds:g} s" if self.policy == INTERVALS else f"{self.frames}"
        return f"{VERSIONS[self.policy]} of {amount}"

    @property
    def is_drawn(self) -> bool:
        """Whether the choice depends on the video's content."""
        return self.policy == CONSECUTIVE

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
        file = Path(path)
        if self.policy == CENTRES:
            return sample_frames(file, self.frames, start, end, size)
        if self.policy == CONSECUTIVE:
            return consecutive_frames(file, self.frames, start, end, size, content)
        if self.policy != INTERVALS:
            raise MediaError(f"sampling '{self.policy}' is unknown; choose one of: {', '.join(VERSIONS)}")
        return interval_frames(file, self.seconds, start, end, size)
