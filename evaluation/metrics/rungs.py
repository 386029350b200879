"""Declare the rungs of the evidence ladder, one row each, from the least that a model sees. Pure.

A rung scores the same items with *views* of their clips: other frames, other pixels, or another prompt.
`evaluation.scoring.rungs` says what each view shows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

BLANK, REVERSED_VIEW, SHUFFLED_VIEW, FRAME_VIEW, DRAWN_VIEW = "blank", "reversed", "shuffled", "frame", "drawn"
GRAY_VIEW, LOW_VIEW, SUBTITLES_VIEW, TEXT_VIEW, SOUND_VIEW = "gray", "low", "subtitles", "text", "sound"
# Pixels of the longer side of a frame at low resolution.
LOW_SIDE = 32


class Rung(StrEnum):
    """From the least that a model sees to the whole clip, then what is added to it."""

    NO_CLIP = "no_clip"
    SUBTITLES_ONLY = "subtitles_only"
    GRAY_CLIP = "gray_clip"
    OTHER_CLIP = "other_clip"
    SUBTEST_CLIP = "subtest_clip"
    FIRST_FRAME = "first_frame"
    MIDDLE_FRAME = "middle_frame"
    LAST_FRAME = "last_frame"
    BEST_FRAME = "best_frame"
    LOW_RESOLUTION = "low_resolution"
    SHUFFLED = "shuffled"
    REVERSED = "reversed"
    FULL = "full"
    WITH_SUBTITLES = "with_subtitles"
    WITH_SOUND = "with_sound"


class Ability(StrEnum):
    """What a model must be able to do for a rung."""

    ANY = ""
    READS_PROMPTS = "reads prompts"
    HEARS = "hears"


class Lender(StrEnum):
    """Whose clip an item is shown: its own, that of an item of another source video, or such a one of its subtest."""

    OWN = ""
    ANY = "any"
    SUBTEST = "subtest"


def frame_view(at: int, tried: int) -> str:
    """Return the view of the frame with index `at` of `tried` single frames."""
    return f"{FRAME_VIEW} {at + 1} of {tried}"


def _view(name: str) -> Callable[[int], tuple[str, ...]]:
    return lambda _tried: (name,)


_PLAIN = _view("")


@dataclass(frozen=True)
class RungKind:
    """`label` names the rung on pages; `shown`: what the model sees, for documentation; `seen`: the same, for pages.

    `views`: the number of single frames tried -> the views whose scores the rung reads, "" for the clip as it is.
    `is_usual`: `--controls` scores it. `compared`: its name among the comparisons with the full clip, and `phrase` how
    a sentence about it begins; empty for rungs that the ladder compares with the next one.
    """

    label: str
    shown: str
    seen: str = ""
    views: Callable[[int], tuple[str, ...]] = _PLAIN
    is_usual: bool = False
    needs: Ability = Ability.ANY
    lender: Lender = Lender.OWN
    compared: str = ""
    phrase: str = ""


RUNGS: dict[Rung, RungKind] = {
    Rung.NO_CLIP: RungKind(
        "No clip",
        "no clip: the texts alone; a dual encoder gets gray frames",
        "the texts alone",
        _view(BLANK),
        is_usual=True,
    ),
    Rung.SUBTITLES_ONLY: RungKind(
        "Subtitles alone",
        "the subtitles in the prompt, without the clip; an item without subtitles has its texts alone",
        "the subtitles, without the clip",
        _view(TEXT_VIEW),
        needs=Ability.READS_PROMPTS,
    ),
    Rung.GRAY_CLIP: RungKind(
        "Gray clip",
        "gray frames, as many as the clip has, in its size and at its times",
        "as many gray frames as the clip has",
        _view(GRAY_VIEW),
    ),
    Rung.OTHER_CLIP: RungKind(
        "Another clip",
        "the clip of an item of another source video, drawn by the seed",
        "the clip of another item",
        is_usual=True,
        lender=Lender.ANY,
        compared="own_clip",
        phrase="With the clip of another item",
    ),
    Rung.SUBTEST_CLIP: RungKind(
        "Another clip of the subtest",
        "the clip of an item of the same subtest and another source video, drawn by the seed",
        "the clip of another item of the subtest",
        lender=Lender.SUBTEST,
        compared="subtest_clip",
        phrase="With another clip of the subtest",
    ),
    Rung.FIRST_FRAME: RungKind(
        "First frame",
        "the first frame, repeated",
        "the first frame only",
        lambda tried: (frame_view(0, tried),),
        is_usual=True,
    ),
    Rung.MIDDLE_FRAME: RungKind(
        "Middle frame",
        "the middle frame, repeated",
        "the middle frame only",
        lambda tried: (frame_view(tried // 2, tried),),
        is_usual=True,
    ),
    Rung.LAST_FRAME: RungKind(
        "Last frame",
        "the last frame, repeated",
        "the last frame only",
        lambda tried: (frame_view(tried - 1, tried),),
    ),
    Rung.BEST_FRAME: RungKind(
        "Best frame",
        "of several single frames, the one whose two best texts have the most different scores",
        views=lambda tried: tuple(frame_view(at, tried) for at in range(tried)),
        is_usual=True,
    ),
    Rung.LOW_RESOLUTION: RungKind(
        "Low resolution",
        f"all frames, scaled down to {LOW_SIDE} pixels at their longer side, and up again to their size",
        f"all frames, at {LOW_SIDE} pixels",
        _view(LOW_VIEW),
        compared="detail",
        phrase="At low resolution",
    ),
    Rung.SHUFFLED: RungKind(
        "Shuffled frames",
        "all frames in a random order, neither the original one nor its reverse",
        "the same frames, in a random order",
        _view(SHUFFLED_VIEW),
        is_usual=True,
    ),
    Rung.REVERSED: RungKind(
        "Reversed frames",
        "all frames, the last one first",
        "the same frames, last one first",
        _view(REVERSED_VIEW),
        is_usual=True,
        compared="reversal",
        phrase="With reversed frames",
    ),
    Rung.FULL: RungKind("Full clip", "the clip", "the clip as it is"),
    Rung.WITH_SUBTITLES: RungKind(
        "With subtitles",
        "the clip, and its subtitles in the prompt; an item without subtitles has its clip alone",
        "the clip and its subtitles",
        _view(SUBTITLES_VIEW),
        needs=Ability.READS_PROMPTS,
        compared="subtitles",
        phrase="With subtitles",
    ),
    Rung.WITH_SOUND: RungKind(
        "With sound",
        "the clip and its sound; a clip without sound is shown as it is",
        "the clip and its sound",
        _view(SOUND_VIEW),
        needs=Ability.HEARS,
        compared="sound",
        phrase="With sound",
    ),
}
