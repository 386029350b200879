"""Write the captions of the demo's scenes, and tell which sentences are true of a scene. Pure text.

Every sentence is built from a scene's facts, so captions are true by construction. `is_true` parses a sentence: the
simulated people use it to judge the texts of others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from foilworks.core.text.tokens import words

SHAPES = ("circle", "square", "triangle", "star", "cross", "ring")
COLOURS = ("red", "green", "blue", "yellow", "white", "purple")

ONE_WAY: Mapping[str, tuple[str, str]] = {
    # motion: (text for the clip, text for its exact reversal)
    "across": ("moves from left to right", "moves from right to left"),
    "vertical": ("moves from top to bottom", "moves from bottom to top"),
    "size": ("changes from small to large", "changes from large to small"),
    "circling": ("goes around the middle clockwise", "goes around the middle anticlockwise"),
    "fading": ("fades into view", "fades out of view"),
    "drifting": ("drifts toward the middle", "drifts away from the middle"),
}
MOTIONS = tuple(ONE_WAY)

OPPOSITES: Mapping[str, str] = {
    # the spans that the preposition method exchanges, in both directions
    "from left to right": "from right to left",
    "from right to left": "from left to right",
    "from top to bottom": "from bottom to top",
    "from bottom to top": "from top to bottom",
    "from small to large": "from large to small",
    "from large to small": "from small to large",
    "clockwise": "anticlockwise",
    "anticlockwise": "clockwise",
    "into view": "out of view",
    "out of view": "into view",
    "toward the middle": "away from the middle",
    "away from the middle": "toward the middle",
}
MIRRORED: Mapping[str, str] = {
    # A left-right flip of the picture changes these sentences; all others stay the same.
    "from left to right": "from right to left",
    "from right to left": "from left to right",
    "clockwise": "anticlockwise",
    "anticlockwise": "clockwise",
}
NEXT_SHAPE: Mapping[str, str] = dict(zip(SHAPES, (*SHAPES[1:], SHAPES[0]), strict=True))
"""Object foils: each shape is replaced by the next, so every word is as frequent in captions as in foils."""

SAME_MEANING: Mapping[str, str] = {
    # A careless edit: different words, still true.
    "moves": "travels",
    "changes": "turns",
    "goes": "runs",
    "fades": "comes gradually",
    "drifts": "floats",
}


BLINKING = "blinking"
COUNTS: Mapping[int, str] = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True)
class Facts:
    """The facts of a scene.

    `reverse`: it is played backwards; `times`: how often the object blinks.
    """

    shape: str
    colour: str
    motion: str
    reverse: bool = False
    times: int = 0

    @property
    def thing(self) -> str:
        return f"a {self.colour} {self.shape}"


def direction_caption(facts: Facts) -> str:
    """Return the main caption: the object's motion and direction."""
    return f"{facts.thing} {ONE_WAY[facts.motion][facts.reverse]}"


def object_caption(facts: Facts) -> str:
    """Return the proficiency caption: the object."""
    return f"there is {facts.thing} in the video"


def counting_caption(facts: Facts) -> str:
    """Return how often the object appears."""
    return f"{facts.thing} blinks exactly {COUNTS[facts.times]} times"


def reversed_caption(caption: str) -> str:
    """Return the caption of the clip's exact reversal."""
    return _exchange(caption, OPPOSITES)


def mirrored_caption(caption: str) -> str:
    """Return the caption of the clip flipped left to right."""
    return _exchange(caption, MIRRORED)


def _exchange(caption: str, table: Mapping[str, str]) -> str:
    for phrase in sorted(table, key=len, reverse=True):
        if caption == phrase or caption.endswith(" " + phrase):
            return caption[: len(caption) - len(phrase)] + table[phrase]
    return caption


def careless(caption: str) -> str:
    """Reword a caption so that it stays true, as a careless annotator's foil."""
    first = next((word for word in words(caption) if word in SAME_MEANING), None)
    if first is None:
        return caption.replace("there is", "one can see", 1)
    return caption.replace(first, SAME_MEANING[first], 1)


def is_true(sentence: str, caption: str) -> bool:
    """Return whether `sentence` means the same as `caption`, which is true: synonyms count, anything else is false."""
    return _canonical(sentence) == _canonical(caption)


def _canonical(sentence: str) -> str:
    text = " ".join(words(sentence)).replace("one can see", "there is")
    for word, synonym in SAME_MEANING.items():
        text = text.replace(synonym, word)
    return text
