"""Which frames of a clip the makers of models show them, by the number of a frame.

Each rule takes the number of frames, their rate per second, the most frames to take, and how many per second are wanted
(0: the most), and returns ascending numbers of frames. `tests/hub/makers.json` compares them with their sources.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

# 40 frames at 9.999999 per second last 4 seconds.
ROUNDING = 1e-6
Rule = Callable[[int, float, int, float], list[int]]


def starts(total: int, rate: float, most: int, fps: float) -> list[int]:
    """Where each of as many equal parts begins: the examples of LLaVA-NeXT-Video, LLaVA-OneVision and Video-LLaVA."""
    count = min(most, total)
    return [at * total // count for at in range(count)]


def first_to_last(total: int, rate: float, most: int, fps: float) -> list[int]:
    """Evenly from the first frame to the last, rounded down: lmms-eval (`read_video`)."""
    return _spread(0, total - 1, min(most, total))


def qwen(total: int, rate: float, most: int, fps: float) -> list[int]:
    """An even number of frames, four at least, from the first to the last: qwen-vl-utils (`smart_nframes`)."""
    count = min(max(_wanted(total, rate, most, fps), 4), most // 2 * 2, total)
    return np.linspace(0, total - 1, max(2, count // 2 * 2)).round().astype(int).tolist()


def video_llama_3(total: int, rate: float, most: int, fps: float) -> list[int]:
    """Where each of as many equal parts begins, four parts at least: VideoLLaMA3's processor."""
    return starts(total, rate, min(max(_wanted(total, rate, most, fps), 4), most), 0)


def smolvlm(total: int, rate: float, most: int, fps: float) -> list[int]:
    """Evenly from the first frame to the last; of long clips without a second at each end: SmolVLM's processor."""
    seconds = total / rate
    count = max(1, min(round((fps or 1) * seconds), most))
    first, last = 0, total - 1
    if seconds - 2 > most * (fps or 1):
        first, last = int(rate + ROUNDING), min(int(total - rate + ROUNDING), last)
    return sorted({*_spread(first, last, count)})


def glm4v(total: int, rate: float, most: int, fps: float) -> list[int]:
    """The first frame at or after each moment, in pairs; of clips with more than `most` moments, as many evenly from
    begin to end: GLM-4.1V's processor."""
    count = max(math.floor(total / rate * fps + ROUNDING), 1)
    moments = np.linspace(0, total / rate, most) if count > most else np.arange(count) / fps
    if total <= most < count:
        return _in_pairs(list(range(total)))
    return _in_pairs([min(total - 1, math.ceil(moment * rate - ROUNDING)) for moment in moments.tolist()])


def glm46v(total: int, rate: float, most: int, fps: float) -> list[int]:
    """Twice 3, 1 or .5 frames per second, the fewer the longer the clip, in pairs: GLM-4.6V's processor."""
    seconds = min(total / rate, 2400.0)
    per_second = fps or 2 * (3 if seconds <= 30 else 1 if seconds <= 300 else 0.5)
    count = min(int(seconds * per_second + ROUNDING), most)
    numbers: list[int] = []
    due = 0.0
    for number in range(total if total >= count else 0):
        if number * (1 / rate) >= due:
            numbers.append(number)
            due += 1 / per_second
            if due >= int(total / rate + ROUNDING):
                break
    if len(numbers) < count:
        numbers = _spread(numbers[0] if numbers else 0, numbers[-1] if numbers else total - 1, count)
    elif len(numbers) > count:
        numbers = _spread(0, total - 1, count)
    return _in_pairs(numbers)


RULES: Mapping[str, Rule] = {
    "starts": starts,
    "first-to-last": first_to_last,
    "qwen": qwen,
    "video-llama-3": video_llama_3,
    "smolvlm": smolvlm,
    "glm4v": glm4v,
    "glm46v": glm46v,
}


def _wanted(total: int, rate: float, most: int, fps: float) -> int:
    return int(total / rate * fps + ROUNDING) if fps else most


def _spread(first: int, last: int, count: int) -> list[int]:
    numbers: list[int] = np.linspace(first, last, count, dtype=int).tolist()
    return numbers


def _in_pairs(numbers: list[int]) -> list[int]:
    """Return distinct numbers, the last one twice if they are odd."""
    distinct = list(dict.fromkeys(numbers))
    return distinct + distinct[-1:] * (len(distinct) % 2)
