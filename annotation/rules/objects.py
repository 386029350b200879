"""The object check: parse extracted objects, draw frames, combine people's answers. Pure.

The study draws 100 random frames of 100 videos, each with the objects that a model extracted (UTD, Sec. 4.2).
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.rules.ordering import seeded_share
from foilworks.core.text.storable import is_storable

FRAMES = 100
MAX_OBJECTS = 60
MAX_NAME = 100
MAX_SOURCE = 100
MAX_KEY_LENGTH = 200


class LineError(ValueError):
    """`field`, what is wrong (`problem`) and what to do, for a message that names the line."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field, self.problem = field, problem


@dataclass(frozen=True)
class Extracted:
    """The objects that a source names in a frame of the video `key`; `time` in seconds, None: the whole clip."""

    key: str
    time: float | None
    objects: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class CheckedObject:
    """An object of a frame with all its answers. `error_class`: "" if seen or not classified."""

    check: int
    frame: int
    video: int
    place: int
    name: str
    seen: bool
    error_class: str


def parse_line(text: str, source: str) -> Extracted:
    """Parse a line of a file of extracted objects: {"video", "time", "objects", "source"}.

    `source` is optional. Names are stripped; empty and repeated ones are left out. LineError: an invalid line.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LineError("line", "is not JSON; write one object per line") from error
    if not isinstance(row, dict):
        raise LineError("line", 'is not a JSON object; write {"video": …, "time": …, "objects": […]}')
    key, source_name = row.get("video"), row.get("source", source)
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
        raise LineError("video", "is missing; enter the key of a video of the project")
    if not is_storable(key):
        raise LineError("video", "contains a NUL or an incomplete character; enter the key of a video of the project")
    if not isinstance(source_name, str) or not 0 < len(source_name) <= MAX_SOURCE or not source_name.isprintable():
        raise LineError("source", f"is not a name of 1 to {MAX_SOURCE} characters; name the tool that made them")
    return Extracted(key, _time(row), _names(row), source_name)


def _time(row: Mapping[str, Any]) -> float | None:
    time = row.get("time")
    if time is None:
        return None
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < 1e6:
        raise LineError("time", "is not a number of seconds; enter the time of the frame in the file")
    return float(time)


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    objects = row.get("objects")
    if not isinstance(objects, list) or not all(isinstance(name, str) for name in objects):
        raise LineError("objects", 'is not a list of names; write ["table", "lamp"]')
    names = tuple(dict.fromkeys(name.strip() for name in objects if name.strip()))
    if not names:
        raise LineError("objects", "is empty; remove the line")
    if len(names) > MAX_OBJECTS or any(len(name) > MAX_NAME or not name.isprintable() for name in names):
        raise LineError("objects", f"has more than {MAX_OBJECTS} names, or a name longer than {MAX_NAME} characters")
    return names


def nouns(words: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Return a caption's common nouns from (part of speech, lemma, text), each once, in order."""
    return tuple(dict.fromkeys(lemma or text.lower() for word_class, lemma, text in words if word_class == "NOUN"))


def drawn_frames(frames: Mapping[int, Sequence[int]], size: int, seed: int) -> list[int]:
    """Draw one frame from each of `size` videos: `frames` are a video's frames by its id; the seed draws both."""
    videos = sorted(frames, key=lambda video: (seeded_share(seed, "video", video), video))[:size]
    return [min(frames[video], key=lambda frame: (seeded_share(seed, "frame", frame), frame)) for video in videos]


def drawn_time(start: float, end: float, seed: int, video: int) -> float:
    """Draw a time in [start, end) seconds for a clip whose objects have no times; leaves out its last instants."""
    return start + 0.98 * (end - start) * seeded_share(seed, "time", video)


def parse_answers(sent: Mapping[str, str], count: int) -> list[bool] | None:
    """Return whether each of `count` objects is visible, from {"0": "yes" | "no", …}; None if an answer is invalid."""
    words = {"yes": True, "no": False}
    marks = [words.get(sent.get(str(index), "")) for index in range(count)]
    return None if None in marks else [bool(mark) for mark in marks]


def seen_by_most(answers: Collection[Sequence[bool]], count: int) -> list[bool]:
    """Return for each object whether more than half of the answers saw it; a researcher decides a tie."""
    return [2 * sum(answer[index] for answer in answers) > len(answers) for index in range(count)]
