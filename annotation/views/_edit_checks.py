"""What the editors of the edit and review pages say in words: the live checks, a reviewer's notes."""

from typing import Any

from annotation.messages import REASONS, of_finding
from annotation.queries.cards import ReturnNote
from annotation.rules.editing import WARNINGS, Finding, Problem
from annotation.rules.marking import Marks

# Stands in a counted message for the number that the page fills in while a person types.
NUMBER = 999


def live_checks() -> list[tuple[str, str, str, str, bool]]:
    """(code, words before the number, the number, words after it, whether it stops the submit) of each check.

    An empty box is left out: it is no mistake before it is sent.
    """
    return [_words(problem) for problem in Problem if problem != Problem.EMPTY]


def _words(problem: Problem) -> tuple[str, str, str, str, bool]:
    before, number, after = of_finding(Finding(0, problem, NUMBER)).partition(str(NUMBER))
    return problem.value, before, number, after, problem not in WARNINGS


def marked_words(marks: Marks | None) -> dict[str, Any]:
    """What the page's checks are told of the words that stay and that change; nothing where it does not matter."""
    return {"marks": {"stay": marks.stay, "change": marks.change}} if marks else {}


def note_words(note: ReturnNote) -> dict[str, Any]:
    return {"reasons": [REASONS[code] for code in note.reasons], "comment": note.comment}
