"""Join answers with the questions of a benchmark: by id, by place in its order, or by the text of the question."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
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
    its id in its subtest, which counts if no other question has it. `video`: its key."""

    id: str
    text: str = ""
    options: Sequence[str] = ()
    right: int | None = None
    name: str = ""
    video: str = ""


class Questions:
    """The questions of a benchmark. `is_ordered`: their order is that of the published file, so places count."""

    def __init__(self, questions: Sequence[Question], *, is_ordered: bool) -> None:
        self._ordered = list(questions) if is_ordered else []
        names = Counter(question.name for question in questions)
        self._by_id = {question.name: question for question in questions if names[question.name] == 1}
        self._by_id |= {question.id: question for question in questions}
        self._by_text: dict[str, list[Question]] = {}
        self._returned: set[str] = set()
        self._videos = {_stem(question.video) for question in questions if question.video}
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
        problem = "" if question is None else self._misfit(answer, question, is_named=named is not None)
        if question is not None and not problem:
            return question
        by_text = self._with_text(answer)
        if by_text is None and problem:
            raise EvaluationError(f"{answer.where}: {problem}")
        return by_text

    def _misfit(self, answer: LoggedAnswer, question: Question, *, is_named: bool) -> str:
        """Return why an answer is not to this question, and what to do; "" if it may be.

        A number may be an id or a place, so the right answer is compared, too.
        """
        if not _asks(answer.question, question.text):
            return (
                f"question: is {quoted(shortened(answer.question))}, but that of {quoted(question.id)} is "
                f"{quoted(shortened(question.text))}; give answers to the questions of this benchmark, in its order "
                "or with its ids"
            )
        if is_named and not question.id.isdecimal():
            return ""
        if self._differ(answer, question):
            return (
                f"video: is {quoted(answer.video)}, but that of {quoted(question.id)} is {quoted(question.video)}; "
                "give the file of the benchmark in the order of the log, or a log with its ids"
            )
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
            f"{quoted(shortened(expected))}; give the file of the benchmark in the order of the log, or a log with "
            "its ids"
        )

    def _differ(self, answer: LoggedAnswer, question: Question) -> bool:
        """Report whether an answer names another video of the benchmark. A log can have other names of its videos."""
        video = _stem(answer.video)
        return video in self._videos and video != _stem(question.video)

    def _with_text(self, answer: LoggedAnswer) -> Question | None:
        """Return the only question with the text, video and options of the answer. Of equal ones with one right answer,
        each is returned once."""
        prompt = plain(answer.question)
        lines = dict.fromkeys([prompt, *map(plain, answer.question.splitlines())])
        candidates = [question for line in lines for question in self._by_text.get(line, ())]
        candidates = [question for question in candidates if not self._differ(answer, question)]
        if len(candidates) > 1:
            options = set(map(plain, answer.options))
            if options:
                candidates = [question for question in candidates if set(map(plain, question.options)) == options]
            else:
                candidates = [one for one in candidates if _shows(prompt, one.options)] or candidates
        if len({_right_text(question) for question in candidates}) > 1:
            return None
        question = next((question for question in candidates if question.id not in self._returned), None)
        if question is not None and len(candidates) > 1:
            self._returned.add(question.id)
        return question


def completed(answer: LoggedAnswer, questions: Questions) -> LoggedAnswer:
    """Return the answer with the id of its question, and with the benchmark's options if it has none."""
    question = questions.find(answer)
    if question is None:
        return answer
    named = replace(answer, id=question.id)
    if answer.has_right or not question.options:
        return named
    return replace(named, options=question.options, right=question.right)


# The label of an option inside its text: "A. a cup", "Option 2: a cup".
_OWN_LABEL = re.compile(r"^\s?(?:Option\s)?\(?[A-Z1-9][.):]\s{1,3}")


def plain(text: str) -> str:
    """Return the words of a text in lower case, with one blank between them, without the letter of an option."""
    return " ".join(words(_OWN_LABEL.sub("", text))).casefold()


def _shows(prompt: str, options: Sequence[str]) -> bool:
    return bool(options) and all(f" {plain(option)} " in f" {prompt} " for option in options)


def _right_text(question: Question) -> str:
    return "" if question.right is None else plain(question.options[question.right])


def _stem(video: str) -> str:
    """Return the name of a video without its path and ending."""
    return PurePosixPath(video.replace("\\", "/")).stem.casefold()


def _asks(prompt: str, question: str) -> bool:
    """Report whether a prompt asks a question; harnesses add instructions, and an unknown text contradicts nothing."""
    first, second = plain(prompt), plain(question)
    # Readers take options out of a question, so its words need not be in one piece.
    return not first or not second or set(second.split()) <= set(first.split()) or second.startswith(first)


def question_of_record(record: Mapping[str, Any]) -> Question:
    """Return a release's record as a question."""
    facts = record.get("facts") or {}
    options, right = facts.get("options"), facts.get("answer")
    if not isinstance(options, list) or not isinstance(right, int):
        options, right = [], None
    name = record["id"].removeprefix(f"{record['subtest']}:")
    return Question(record["id"], str(facts.get("question") or ""), options, right, name)
