"""Define what the solver reads: questions without their answers, and the answers as an array of their own.

A feature is a function of questions, so no feature of a held-out item can depend on its answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Answers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    """One item without its answer.

    `options`: in file order if `is_ordered`, else sorted. `is_label`: the options are yes and no, or true and false.
    `video`: the source video, "" if the file names none. `clip`: the video with the times of its part. `kind`: the
    subtest or the type of question. `order`: the row in the file, from 0. `pair`: a declared id of items that contrast.
    `group`: a declared id of items that must not teach each other. `extra`: (name, value) of the file's metadata.
    """

    id: str
    text: str
    options: tuple[str, ...]
    is_ordered: bool = False
    is_label: bool = False
    video: str = ""
    clip: str = ""
    kind: str = ""
    order: int = 0
    pair: str = ""
    group: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One item as files have it: with its answer. `position`: that of the right option, from 0; None without an order.

    The remaining fields are those of `Question`; `extra` must not contain the answer.
    """

    right: str
    wrongs: tuple[str, ...]
    position: int | None = None
    question: str = ""
    video: str = ""
    clip: str = ""
    id: str = ""
    kind: str = ""
    is_label: bool = False
    pair: str = ""
    group: str = ""
    extra: tuple[tuple[str, str], ...] = ()


def separate_answers(rows: Iterable[Row]) -> tuple[list[Question], Answers]:
    """Return the questions of n rows and (n,) the index of the right option of each.

    ValueError: a row without a wrong option, or whose position is outside its options.
    """
    questions, answers = [], []
    for order, row in enumerate(rows):
        if not row.wrongs:
            raise ValueError(f"row {order + 1}: it has no wrong option; give at least two options")
        if row.position is not None and not 0 <= row.position <= len(row.wrongs):
            raise ValueError(f"row {order + 1}: position {row.position} is outside its {1 + len(row.wrongs)} options")
        is_ordered = row.position is not None and not row.is_label
        options = sorted([row.right, *row.wrongs])
        answer = options.index(row.right)
        if is_ordered and row.position is not None:
            answer = row.position
            options = [*row.wrongs[:answer], row.right, *row.wrongs[answer:]]
        answers.append(answer)
        questions.append(
            Question(
                id=row.id or str(order),
                text=row.question,
                options=tuple(options),
                is_ordered=is_ordered,
                is_label=row.is_label,
                video=row.video,
                clip=row.clip or row.video,
                kind=row.kind,
                order=order,
                pair=row.pair,
                group=row.group,
                extra=row.extra,
            )
        )
    return questions, np.array(answers, dtype=np.int64)


def check_questions(questions: Sequence[Question], answers: Answers) -> None:
    """Raise ValueError without questions, if the answers do not fit them, or if an item has fewer than two options."""
    if len(questions) != len(answers):
        raise ValueError(f"{len(questions)} questions have {len(answers)} answers; give one answer per question")
    if not questions:
        raise ValueError("there are no questions; give at least one")
    for question, answer in zip(questions, answers, strict=True):
        if len(question.options) < 2 or not 0 <= answer < len(question.options):
            raise ValueError(
                f"item {question.id}: option {answer} of {len(question.options)} is no valid answer; "
                "give at least two options and the index of the right one"
            )
