"""Parse and write existence captions: "there is at least one X", "there are some Xs", "there is some X"."""

import re
from dataclasses import dataclass

from foilworks.core.text.language.articles import MASS
from foilworks.core.text.language.inflection import PLURAL_ONLY, plural, singular

FRAME = re.compile(
    r"^(?P<before>\s*(?ai:there\s+))(?P<frame>(?ai:is\s+at\s+least\s+one|is\s+some|are\s+some|are\s+at\s+least\s+some))"
    r"(?P<gap>\s+)(?P<thing>[^\W_]+(?:[\s-]+[^\W_]+){0,3})(?P<after>\s*[.!]?\s*)$"
)
ONE, SEVERAL, SOME = "is at least one", "are some", "is some"
# Uncountable things that are also sold or served by the piece: "peppers", "papers".
PIECES = frozenset(
    {"beer", "cheese", "chocolate", "coffee", "fire", "juice", "paper", "pepper", "sauce", "soup", "wine"}
)
# What is there wherever the whole is: "there is at least one door" is true of a video with an oven.
PARTS = {
    "bicycle": frozenset({"wheel", "pedal", "saddle"}),
    "bus": frozenset({"door", "wheel", "window", "seat"}),
    "car": frozenset({"door", "wheel", "window", "seat"}),
    "fridge": frozenset({"door"}),
    "house": frozenset({"door", "window", "roof", "wall"}),
    "laptop": frozenset({"keyboard", "screen"}),
    "microwave": frozenset({"door"}),
    "oven": frozenset({"door"}),
    "person": frozenset({"hand", "face", "hair"}),
    "man": frozenset({"hand", "face"}),
    "woman": frozenset({"hand", "face", "hair"}),
    "refrigerator": frozenset({"door"}),
    "truck": frozenset({"door", "wheel", "window", "seat"}),
}


@dataclass(frozen=True)
class Existence:
    """An existence caption: characters `frame_start:frame_end` are the frame, `start:end` the thing."""

    frame: str
    frame_start: int
    frame_end: int
    start: int
    end: int
    thing: str


def read_existence(text: str) -> Existence | None:
    """Parse a sentence of the template; None for other sentences."""
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
    """Return the singular of a thing: "wine glasses" -> "wine glass"; "water", "scissors" as they are."""
    first, _, last = thing.lower().rpartition(" ")
    return f"{first} {singular(last) or last}".strip()


def frame_for(thing: str, *, several: bool) -> tuple[str, str]:
    """Return (frame, form) for a thing in the singular."""
    last = thing.split()[-1]
    if last in MASS and not (several and last in PIECES):
        return SOME, thing
    if last in PLURAL_ONLY:
        return SEVERAL, thing
    return (SEVERAL, many_of(thing)) if several else (ONE, thing)


def own_frame(thing: str, said: str) -> str:
    """Return the frame that a caption of the thing should have: "at least one jeans" counts as "are some jeans", and
    "are some hair" as "is some hair"."""
    last = thing.split()[-1]
    if last in MASS and last not in PIECES:
        return SOME
    return SEVERAL if last in PLURAL_ONLY else said


def many_of(thing: str) -> str:
    """Return the plural of a thing, by its last word: "wine glass" -> "wine glasses"."""
    first, _, last = thing.rpartition(" ")
    many = plural(last) if singular(last) is None else last
    return f"{first} {many}".strip()


def in_frame(thing: str, said: str, frame: str) -> str | None:
    """Return the form in `frame` of a thing (singular) from frame `said`; None if only one of them is countable, or
    the thing has no singular ("jeans")."""
    if (said == SOME) != (frame == SOME) or (frame == ONE and thing.split()[-1] in PLURAL_ONLY):
        return None
    return many_of(thing) if frame == SEVERAL else thing
