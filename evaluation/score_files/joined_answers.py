"""Join answers with the questions of a benchmark: by id, by place in its order, or by the text of the question."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.harness_shapes import LoggedAnswer
from foilworks.core.corpus.import_formats.parsing.answer_styles import label_of
from foilworks.core.text.model_answers import LETTERS
from foilworks.core.text.quoting import quoted, shortened
from foilworks.core.text.tokens import words


@dataclass(frozen=True)
class Question:
    """A question of a benchmark. `options`: in its order, () if unknown; `right`: the place of the right one. `name`:
    its id in its subtest, which counts if no other question has it."""

    id: str
    text: str = ""
    options: Sequence[str] = ()
    right: int | None = None
    name: str = ""


class Questions:
    """The questions of a benchmark. `is_ordered`: their order is that of the published file, so places count."""

    def __init__(self, questions: Sequence[Question], *, is_ordered: bool) -> None:
        self._ordered = list(questions) if is_ordered else []
        names = Counter(question.name for question in questions)
        self._by_id = {question.name: question for question in questions if names[question.name] == 1}
        self._by_id |= {question.id: question for question in questions}
        self._by_text: dict[str, list[Question]] = {}
        for question in questions:
            if text := plain(question.text):
                self._by_text.setdefault(text, []).append(question)

    def find(self, answer: LoggedAnswer) -> Question | None:
        """Return the question of an answer; None if the answer names no question of the benchmark.

        EvaluationError: the answer is to another question, or its place does not fit.
        """
        named = next((self._by_id[own] for own in (answer.id, *answer.ids) if own in self._by_id), None)
        at = answer.place if named is None else None
        placed = self._ordered[at] if at is not None and at < len(self._ordered) else None
        question = named or placed
        problem = "" if question is None else _misfit(answer, question, is_named=named is not None)
        if question is not None and not problem:
            return question
        by_text = self._with_text(answer)
        if by_text is None and problem:
            raise EvaluationError(f"{answer.where}: {problem}")
        return by_text

    def _with_text(self, answer: LoggedAnswer) -> Question | None:
        """Return the only question with the text and options of the answer."""
        lines = dict.fromkeys(plain(line) for line in (answer.question, *answer.question.splitlines()))
        candidates = [question for line in lines for question in self._by_text.get(line, ())]
        if len(candidates) > 1:
            options = set(map(plain, answer.options))
            candidates = [question for question in candidates if set(map(plain, question.options)) == options]
        return candidates[0] if len(candidates) == 1 else None


def completed(answer: LoggedAnswer, questions: Questions) -> LoggedAnswer:
    """Return the answer with the id of its question, and with the benchmark's options if it has none."""
    question = questions.find(answer)
    if question is None:
        return answer
    named = replace(answer, id=question.id)
    if answer.has_right or not question.options:
        return named
    return replace(named, options=question.options, right=question.right)


# The letter of an option inside its text: "A. a cup".
_OWN_LABEL = re.compile(r"^\s?\(?[A-Z][.):]\s{1,3}")


def plain(text: str) -> str:
    """Return the words of a text in lower case, with one blank between them, without the letter of an option."""
    return " ".join(words(_OWN_LABEL.sub("", text))).casefold()


def _misfit(answer: LoggedAnswer, question: Question, *, is_named: bool) -> str:
    """Return why an answer is not to this question, and what to do; "" if it may be.

    A number may be an id or a place, so the right answer is compared, too.
    """
    if not _asks(answer.question, question.text):
        return (
            f"question: is {quoted(shortened(answer.question))}, but that of {quoted(question.id)} is "
            f"{quoted(shortened(question.text))}; give answers to the questions of this benchmark, in its order or "
            "with its ids"
        )
    if is_named and not question.id.isdecimal():
        return ""
    target, right = answer.target.strip(), question.right
    if right is None or not target or target.isdecimal():
        return ""
    options = answer.options or question.options
    letter = LETTERS.find(target) if len(target) == 1 else -1
    text, expected = options[letter] if 0 <= letter < len(options) else target, question.options[right]
    is_label = label_of(expected) is not None and label_of(text) is not None
    if label_of(text) is label_of(expected) if is_label else plain(text) == plain(expected):
        return ""
    return (
        f"the right answer is {quoted(shortened(text))}, but that of {quoted(question.id)} is "
        f"{quoted(shortened(expected))}; give the file of the benchmark in the order of the log, or a log with its ids"
    )


def _asks(prompt: str, question: str) -> bool:
    """Report whether a prompt asks a question; harnesses add instructions, and an unknown text contradicts nothing."""
    first, second = plain(prompt), plain(question)
    return not first or not second or f" {second} " in f" {first} " or second.startswith(first)


def question_of_record(record: Mapping[str, Any]) -> Question:
    """Return a release's record as a question."""
    facts = record.get("facts") or {}
    options, right = facts.get("options"), facts.get("answer")
    if not isinstance(options, list) or not isinstance(right, int):
        options, right = [], None
    name = record["id"].removeprefix(f"{record['subtest']}:")
    return Question(record["id"], str(facts.get("question") or ""), options, right, name)
