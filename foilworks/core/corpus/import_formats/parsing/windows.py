"""Windows of consecutive repetitions in an annotated video, and their sampling as in ViLMA's counting subtests
(ViLMA, Sec. C.2, and `create_instrument.py` of its public code)."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """The frames from `edges[0]` up to `edges[-1]`; one repetition ends at each edge but the first."""

    edges: tuple[int, ...]

    @property
    def start(self) -> int:
        return self.edges[0]

    @property
    def end(self) -> int:
        return self.edges[-1]

    @property
    def count(self) -> int:
        return len(self.edges) - 1


def windows(frames: Sequence[int], low: int, high: int) -> list[Window]:
    """List all windows of `low` to `high` repetitions. `frames`: the frame at which each repetition ends; the first
    repetition starts at frame 0."""
    edges = (0, *frames)
    return [
        Window(edges[first : first + count + 1])
        for first in range(len(frames))
        for count in range(low, high + 1)
        if first + count < len(edges)
    ]


def draw(all_windows: Sequence[Window], count: int, rng: random.Random) -> list[Window]:
    """Draw `count` windows without replacement. With fewer windows, return all of them, and draw the rest from them
    with replacement, as the published code does."""
    if len(all_windows) >= count:
        return rng.sample(list(all_windows), count)
    return [*all_windows, *rng.choices(all_windows, k=count - len(all_windows))] if all_windows else []


def frequencies(videos: Iterable[Sequence[int]], low: int, high: int) -> dict[int, int]:
    """Count the windows of all videos by their number of repetitions; counts without a window are left out."""
    counts = Counter(window.count for frames in videos for window in windows(frames, low, high))
    return dict(sorted(counts.items()))


def draw_count(choices: Mapping[int, int], rng: random.Random) -> int:
    """Draw a count in proportion to its frequency."""
    return rng.choices(list(choices), weights=list(choices.values()))[0]
