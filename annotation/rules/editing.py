"""Checks of a foil that a person wrote; pages run the same checks while typing. Pure.

An error stops the submit; a warning is shown and not stored. Findings have codes: the messages are in
annotation.messages, so that they can be translated.
"""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.rules.marking import Marks
from foilworks.core.text.diff import changed_words, compared_words

MAX_CHARACTERS = 2_000


class Problem(StrEnum):
    EMPTY = "empty"
    TOO_LONG = "too_long"
    CONTROL_CHARACTER = "control_character"
    SAME_AS_CAPTION = "same_as_caption"
    DUPLICATE = "duplicate"
    DROPPED_BEFORE = "dropped_before"
    MANY_CHANGED_WORDS = "many_changed_words"
    NOT_ONE_SENTENCE = "not_one_sentence"
    ENTITY_CHANGED = "entity_changed"
    SAME_ACTION = "same_action"


WARNINGS = frozenset(
    {Problem.MANY_CHANGED_WORDS, Problem.NOT_ONE_SENTENCE, Problem.ENTITY_CHANGED, Problem.SAME_ACTION}
)


@dataclass(frozen=True)
class Finding:
    """`index` is the text's place among those checked; `number` is what the code counts (characters, words)."""

    index: int
    problem: Problem
    number: int = 0

    @property
    def is_error(self) -> bool:
        return self.problem not in WARNINGS


def normalised(text: str) -> str:
    """Normalize letter case, width forms, white space and a final stop, so that texts that read the same are equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .!?…。")


def check_text(
    caption: str,
    text: str,
    other_foils: Collection[str] = (),
    dropped: Collection[str] = (),
    marks: Marks | None = None,
) -> list[Finding]:
    """Return the findings on one text; `other_foils`: the group's other foils, `dropped`: dropped ones.

    `marks`: which words stay and which change, if the foil must change only the action.
    """
    return check_texts(caption, [text], other_foils, dropped, marks)


def check_texts(
    caption: str,
    texts: Sequence[str],
    other_foils: Collection[str] = (),
    dropped: Collection[str] = (),
    marks: Marks | None = None,
) -> list[Finding]:
    """Return findings on texts submitted together, in order; each text is also one of the next one's others."""
    taken_texts = {normalised(foil) for foil in other_foils}
    refused = {normalised(text) for text in dropped}
    findings = []
    for index, text in enumerate(texts):
        text_problems = _of_one(caption, text, taken_texts, refused, marks or Marks())
        findings += [Finding(index, problem, number) for problem, number in text_problems]
        taken_texts.add(normalised(text))
    return findings


def errors(findings: Collection[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_error]


def _of_one(
    caption: str, text: str, taken_texts: set[str], refused: set[str], marks: Marks
) -> list[tuple[Problem, int]]:
    if not text.strip():
        return [(Problem.EMPTY, 0)]
    if len(text) > MAX_CHARACTERS:
        return [(Problem.TOO_LONG, len(text))]
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in text):
        return [(Problem.CONTROL_CHARACTER, 0)]
    plain = normalised(text)
    if plain == normalised(caption):
        return [(Problem.SAME_AS_CAPTION, 0)]
    if plain in taken_texts:
        return [(Problem.DUPLICATE, 0)]
    return [(Problem.DROPPED_BEFORE, 0)] if plain in refused else _warnings(caption, text, marks)


def _warnings(caption: str, text: str, marks: Marks) -> list[tuple[Problem, int]]:
    problems = []
    n_changed = changed_words(caption, text)
    if n_changed > max(4, len(compared_words(caption)) // 3):
        problems.append((Problem.MANY_CHANGED_WORDS, n_changed))
    if _sentences(text) > max(1, _sentences(caption)):
        problems.append((Problem.NOT_ONE_SENTENCE, 0))
    words = set(compared_words(text))
    n_lost = sum(not words.issuperset(compared_words(word)) for word in marks.stay)
    if n_lost:
        problems.append((Problem.ENTITY_CHANGED, n_lost))
    if marks.change and all(words.issuperset(compared_words(word)) for word in marks.change):
        problems.append((Problem.SAME_ACTION, 0))
    return problems


def _sentences(text: str) -> int:
    """Return how many words end a sentence; the last word ends one even without a stop."""
    words = text.split()
    return sum(word[-1] in ".!?…。" for word in words[:-1]) + bool(words)
