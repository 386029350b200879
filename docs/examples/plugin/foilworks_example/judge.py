"""Judge texts about light by the brightness of the clip, and open answers by their words."""

from collections.abc import Iterator, Sequence

from foilworks.plugins import JudgedAnswer, JudgedPair, MediaError, read_frames, words

VERSION = "1"
# The values are probabilities that the text is true of the clip.
GIVES_PROBABILITIES = True
BRIGHT, DARK = {"bright", "sunny", "white"}, {"dark", "night", "black"}


def judge(pairs: Sequence[JudgedPair], *, argument: str) -> Iterator[tuple[float, float] | None]:
    """Yield the values of caption and foil per pair, in order; None without an answer."""
    for pair in pairs:
        try:
            frames = read_frames(pair.clip, int(argument or 4))
        except MediaError:
            yield None
            continue
        brightness = float(frames.mean()) / 255
        caption, foil = (_probability(text, brightness) for text in (pair.caption, pair.foil))
        yield None if caption is None or foil is None else (caption, foil)


def judge_answers(answers: Sequence[JudgedAnswer], *, argument: str) -> Iterator[bool | None]:
    """Yield whether each answer means the same as the right one; None if you cannot say."""
    for answer in answers:
        yield set(words(answer.reference.lower())) <= set(words(answer.answer.lower())) if answer.answer else None


def _probability(text: str, brightness: float) -> float | None:
    found = set(words(text.lower()))
    return brightness if found & BRIGHT else 1 - brightness if found & DARK else None
