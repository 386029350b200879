"""Measure how far questions can be answered without their videos, from their texts and their file."""

from collections.abc import Callable, Sequence
from typing import Any

from foilworks.core.solver.questions import Answers, Question, check_questions
from foilworks.core.solver.solution import Solution

# Steps done, all steps, and the state to store.
Progress = Callable[[int, int, dict[str, Any]], None]
REPEATS = 5
PERMUTATIONS = 100


def first_view(questions: Sequence[Question], answers: Answers, seed: int = 0) -> Solution:
    """Return what one pass of folds finds. It never says "nothing_found", only "nothing_found_so_far".

    ValueError: the answers do not fit the questions, or there are no questions.
    """
    check_questions(questions, answers)
    raise NotImplementedError


def certify(
    questions: Sequence[Question],
    answers: Answers,
    seed: int = 0,
    repeats: int = REPEATS,
    permutations: int = PERMUTATIONS,
    progress: Progress | None = None,
    state: dict[str, Any] | None = None,
) -> Solution:
    """Return what repeated folds find, and the share of redrawn answers that reach it.

    `progress` is called after each step with a state of JSON values; pass the last one as `state` to resume.
    ValueError: as in `first_view`, or the state belongs to other questions or settings.
    """
    check_questions(questions, answers)
    raise NotImplementedError
