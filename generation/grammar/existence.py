""" "there is at least one X", "there are some Xs", "there is some X": what is said to be there, and in which way."""

import re
from dataclasses import dataclass

from text.language.inflection import plural, singular

FRAME = re.compile(
    r"^(?P<before>\s*(?ai:there\s+))(?P<frame>(?ai:is\s+at\s+least\s+one|is\s+some|are\s+some|are\s+at\s+least\s+some))"
    r"(?P<gap>\s+)(?P<thing>[^\W_]+(?:[\s-]+[^\W_]+){0,3})(?P<after>\s*[.!]?\s*)$"
)
ONE, SEVERAL, SOME = "is at least one", "are some", "is some"
# Things that are not counted.
MASS = frozenset(
    {
        "water",
        "milk",
        "oil",
        "rice",
        "bread",
        "butter",
        "cheese",
        "flour",
        "sugar",
        "salt",
        "pepper",
        "meat",
        "soup",
        "sand",
        "snow",
        "hair",
        "paper",
        "grass",
        "wood",
        "food",
        "juice",
        "coffee",
        "tea",
        "wine",
        "beer",
        "sauce",
        "dough",
        "pasta",
        "garlic",
        "ice",
        "money",
        "makeup",
        "paint",
        "clay",
        "smoke",
        "fire",
        "rain",
        "honey",
        "cream",
        "chocolate",
        "music",
        "furniture",
        "clothing",
        "luggage",
        "jewelry",
        "equipment",
        "mud",
        "soap",
        "glue",
        "metal",
        "plastic",
    }
)


@dataclass(frozen=True)
class Existence:
    """Characters `frame_start:frame_end` are the frame, `start:end` the thing."""

    frame: str
    frame_start: int
    frame_end: int
    start: int
    end: int
    thing: str


def read_existence(text: str) -> Existence | None:
    """The parts of a sentence of the template; None for any other."""
    if len(text) > 500:
        return None
    match = FRAME.match(text)
    if match is None:
        return None
    frame = " ".join(match["frame"].lower().split())
    frame = SEVERAL if frame.startswith("are") else frame
    thing = " ".join(match["thing"].lower().split())
    return Existence(frame, *match.span("frame"), *match.span("thing"), thing)


def one_of(thing: str) -> str:
    """The thing in the singular, its last word: "wine glasses" -> "wine glass"; "water", "scissors" as they are."""
    first, _, last = thing.lower().rpartition(" ")
    return f"{first} {singular(last) or last}".strip()


def frame_for(thing: str, *, several: bool) -> tuple[str, str]:
    """(frame, form) in which the thing, given in the singular, is said to be there."""
    if thing.split()[-1] in MASS:
        return SOME, thing
    return (SEVERAL, many_of(thing)) if several else (ONE, thing)


def many_of(thing: str) -> str:
    """The plural of a thing, its last word: "wine glass" -> "wine glasses"."""
    first, _, last = thing.rpartition(" ")
    many = plural(last) if singular(last) is None else last
    return f"{first} {many}".strip()


def in_frame(thing: str, said: str, frame: str) -> str | None:
    """The form in `frame` of a thing (singular) that was said in `said`; None where one is counted, the other not."""
    if (said == SOME) != (frame == SOME):
        return None
    return many_of(thing) if frame == SEVERAL else thing
