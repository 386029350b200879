"""Find equal frames in a batch of clips, so that the parts of a model that see single frames see each once. Pure."""

from collections.abc import Sequence

from foilworks.core.hub.interfaces import Frames


def frame_numbers(clips: Sequence[Frames]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Return which distinct frame is where in each clip, and where each distinct frame is first: (clip, frame)."""
    numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
    first: list[tuple[int, int]] = []
    frame_ids = []
    for at, clip in enumerate(clips):
        row = []
        for frame_index, frame in enumerate(clip):
            key = (frame.shape, frame.tobytes())
            if key not in numbers:
                numbers[key] = len(first)
                first.append((at, frame_index))
            row.append(numbers[key])
        frame_ids.append(row)
    return frame_ids, first
