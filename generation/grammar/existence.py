"""Parse and write existence captions: "there is at least one X", "there are some Xs", "there is some X"."""

import re
from dataclasses import dataclass

from foilworks.core.text.language.articles import MASS
from foilworks.core.text.language.inflection import PLURAL_ONLY, plural, singular

FRAME = re.compile(
    r"^(?P<before>\s*(?ai:there\s+))(?P<frame>(?ai:is\s+at\s+least\s+one|is\s+some|are\s+some|are\s+at\s+least\s+some))"
    r"(?P<gap>\s+)(?P<noun>[^\W_]+(?:[\s-]+[^\W_]+){0,3})(?P<after>\s*[.!]?\s*)$"
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
    """An existence caption: characters `frame_start:frame_end` are the frame, `start:end` the noun."""

    frame: str
    frame_start: int
    frame_end: int
    start: int
    end: int
    noun: str


def read_existence(text: str) -> Existence | None:
    """Parse a sentence of the template; None for other sentences."""
    if len(text) > 500:
        return None
    match = FRAME.match(text)
    if match is None:
        return None
    frame = " ".join(match["frame"].lower().split())
    frame = SEVERAL if frame.startswith("are") else frame
    noun = " ".join(match["noun"].lower().split())
    return Existence(frame, *match.span("frame"), *match.span("noun"), noun)


def singular_noun(noun: str) -> str:
    """Return the singular of a thing: "wine glasses" -> "wine glass"; "water", "scissors" as they are."""
    first, _, last = noun.lower().rpartition(" ")
    return f"{first} {singular(last) or last}".strip()


def frame_for(noun: str, *, several: bool) -> tuple[str, str]:
    """Return (frame, form) for a thing in the singular."""
    last = noun.split()[-1]
    if last in MASS and not (several and last in PIECES):
        return SOME, noun
    if last in PLURAL_ONLY:
        return SEVERAL, noun
    return (SEVERAL, plural_noun(noun)) if several else (ONE, noun)


def own_frame(noun: str, frame: str) -> str:
    """Return the frame that a caption of the thing should have: "at least one jeans" counts as "are some jeans", and
    "are some hair" as "is some hair"."""
    last = noun.split()[-1]
    if last in MASS and last not in PIECES:
        return SOME
    return SEVERAL if last in PLURAL_ONLY else frame


def plural_noun(noun: str) -> str:
    """Return the plural of a thing, by its last word: "wine glass" -> "wine glasses"."""
    first, _, last = noun.rpartition(" ")
    plural_last = plural(last) if singular(last) is None else last
    return f"{first} {plural_last}".strip()


def in_frame(noun: str, source_frame: str, frame: str) -> str | None:
    """Return the form in `frame` of a noun (singular) from `source_frame`; None if only one of them is countable, or
    the noun has no singular ("jeans")."""
    if (source_frame == SOME) != (frame == SOME) or (frame == ONE and noun.split()[-1] in PLURAL_ONLY):
        return None
    return plural_noun(noun) if frame == SEVERAL else noun
