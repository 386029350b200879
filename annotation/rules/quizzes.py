"""Practice and the qualification: draw questions, decide who has passed, grade an edit. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.rules.editing import Finding, check_text, errors, normalised
from annotation.rules.marking import Marks
from annotation.rules.ordering import seeded_share
from foilworks.core.text.diff import diff_segments

# Maximum of questions per attempt at practice.
PRACTICE_LENGTH = 10
# Between the foils of one answer.
LINE = "\n"


def draw(
    secret: int, person: int, number: int, matched: Sequence[int], mismatched: Sequence[int], length: int, share: float
) -> list[int]:
    """Draw the ids of `length` questions in order (or all), about `share` of them mismatched.

    If one kind has too few, the other fills up. The same attempt of a person always gives the same draw.
    """

    def shuffled(ids: Sequence[int], purpose: str) -> list[int]:
        return sorted(ids, key=lambda pk: (seeded_share(secret, purpose, person, number, pk), pk))

    first, second = shuffled(matched, "draw"), shuffled(mismatched, "draw")
    n_mismatched = min(len(second), round(length * share))
    n_mismatched = max(n_mismatched, min(len(second), length - len(first)))
    return shuffled([*first[: length - n_mismatched], *second[:n_mismatched]], "order")


def question_caption_first(secret: int, person: int, number: int, question_index: int) -> bool:
    """Return whether the question at `question_index` of attempt `number` shows the caption first.

    Independent of the other questions: the order of one reveals nothing about the next.
    """
    return seeded_share(secret, "order of a question", person, number, question_index) < 0.5


def has_passed(right: int, n_questions: int, share: float) -> bool:
    """Return whether at least `share` of all answers is right (ViLMA, Sec. B.1: 90 % of at least 7)."""
    return n_questions > 0 and right >= share * n_questions - 1e-9


class Match(StrEnum):
    """How a foil compares with the foils of an expert."""

    SAME = "same"
    SAME_PLACE = "same_place"
    ELSEWHERE = "elsewhere"
    BROKEN = "broken"


@dataclass(frozen=True)
class Grade:
    """`right`: a small edit of words that an expert changed, too, without an error; `findings` of the checks."""

    match: Match
    findings: tuple[Finding, ...] = ()

    @property
    def right(self) -> bool:
        return self.match in (Match.SAME, Match.SAME_PLACE)


def grade_edits(
    caption: str, texts: Sequence[str], examples: Collection[str], marks: Marks | None = None
) -> list[Grade]:
    """Grade foils that were written together: each must differ from those before it."""
    return [grade_edit(caption, text, examples, texts[:index], marks) for index, text in enumerate(texts)]


def grade_edit(
    caption: str, text: str, examples: Collection[str], other_foils: Collection[str] = (), marks: Marks | None = None
) -> Grade:
    """Grade a foil by the live checks and an expert's foils of the same caption.

    `marks`: which words stay and which change, if the foil must change only the action.
    """
    findings = tuple(check_text(caption, text, other_foils, marks=marks))
    if errors(findings):
        return Grade(Match.BROKEN, findings)
    if any(normalised(text) == normalised(example) for example in examples):
        return Grade(Match.SAME, findings)
    changed_positions = _changed(caption, text)
    touched = [_changed(caption, example) for example in examples]
    near = any(changed_positions & words for words in touched) and len(changed_positions) <= max(map(len, touched)) + 2
    return Grade(Match.SAME_PLACE if near and not findings else Match.ELSEWHERE, findings)


def _changed(caption: str, text: str) -> set[int]:
    """Return the positions of the caption's words that the text changes; an inserted word counts for the one before."""
    positions, position = set[int](), 0
    for kind, piece in diff_segments(caption, text):
        words = len(piece.split())
        if kind == "removed":
            positions.update(range(position, position + words))
        elif kind == "added":
            positions.add(max(0, position - 1) if position else 0)
        if kind != "added":
            position += words
    return positions
