"""The object check: what a line of extracted objects says, which frames are drawn, what people's answers come to. Pure.

The study draws 100 random frames of 100 videos, each with the objects that a model extracted (UTD, Sec. 4.2).
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.rules.ordering import seeded_share
from text.storable import is_storable

FRAMES = 100
MAX_OBJECTS = 60
MAX_NAME = 100
MAX_SOURCE = 100
MAX_KEY_LENGTH = 200


class LineError(ValueError):
    """`field`, `what` is wrong and what to do, for a message that names the line."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field, self.problem = field, problem


@dataclass(frozen=True)
class Extracted:
    """The objects that a source names for a frame of the video `key`; `time` in seconds, None for the whole clip."""

    key: str
    time: float | None
    objects: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class CheckedObject:
    """One object of a frame that all have looked at who were asked. `error_class`: "" where seen, or not classed."""

    check: int
    frame: int
    video: int
    place: int
    name: str
    seen: bool
    error_class: str


def parse_line(text: str, source: str) -> Extracted:
    """One line of a file of extracted objects: {"video", "time", "objects", "source"}; the last is optional.

    Names are stripped; empty and repeated ones are left out. LineError where the line is none.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LineError("line", "is no JSON; write one object a line") from error
    if not isinstance(row, dict):
        raise LineError("line", 'is no JSON object; write {"video": …, "time": …, "objects": […]}')
    key, named = row.get("video"), row.get("source", source)
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
        raise LineError("video", "is missing; give the key of a video of the project")
    if not is_storable(key):
        raise LineError("video", "holds a NUL or half of a character pair; give the key of a video of the project")
    if not isinstance(named, str) or not 0 < len(named) <= MAX_SOURCE or not named.isprintable():
        raise LineError("source", f"is no word of 1 to {MAX_SOURCE} characters; say what extracted the objects")
    return Extracted(key, _time(row), _names(row), named)


def _time(row: Mapping[str, Any]) -> float | None:
    time = row.get("time")
    if time is None:
        return None
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < 1e6:
        raise LineError("time", "is no number of seconds; give the time of the frame in the file")
    return float(time)


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    objects = row.get("objects")
    if not isinstance(objects, list) or not all(isinstance(name, str) for name in objects):
        raise LineError("objects", 'is no list of names; write ["table", "lamp"]')
    names = tuple(dict.fromkeys(name.strip() for name in objects if name.strip()))
    if not names:
        raise LineError("objects", "names nothing; leave the line out")
    if len(names) > MAX_OBJECTS or any(len(name) > MAX_NAME or not name.isprintable() for name in names):
        raise LineError("objects", f"holds more than {MAX_OBJECTS} names or one beyond {MAX_NAME} characters")
    return names


def nouns(words: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """The things that a caption names: its common nouns in (part of speech, lemma, text), each once, in order."""
    return tuple(dict.fromkeys(lemma or text.lower() for part, lemma, text in words if part == "NOUN"))


def drawn_frames(frames: Mapping[int, Sequence[int]], size: int, seed: int) -> list[int]:
    """One frame each of `size` videos: `frames` are a video's frames by its id; both are drawn by the seed."""
    videos = sorted(frames, key=lambda video: (seeded_share(seed, "video", video), video))[:size]
    return [min(frames[video], key=lambda frame: (seeded_share(seed, "frame", frame), frame)) for video in videos]


def drawn_time(start: float, end: float, seed: int, video: int) -> float:
    """A time in [start, end) seconds for a clip whose objects name none; its last instants are left out."""
    return start + 0.98 * (end - start) * seeded_share(seed, "time", video)


def parse_answers(sent: Mapping[str, str], count: int) -> list[bool] | None:
    """Whether each of `count` objects is visible, from {"0": "yes" | "no", …}; None where one is missing or else."""
    words = {"yes": True, "no": False}
    found = [words.get(sent.get(str(place), "")) for place in range(count)]
    return None if None in found else [bool(each) for each in found]


def seen_by_most(answers: Collection[Sequence[bool]], count: int) -> list[bool]:
    """For each object whether more than half of those who looked saw it; a tie goes on to the researcher's eye."""
    return [2 * sum(answer[place] for answer in answers) > len(answers) for place in range(count)]
