"""Share what formats of questions with options have: a question becomes a caption and its foils.

Each text is `Q: QUESTION A: OPTION`: the right option is the caption, the others are the foils in the order of the
file. `facts` contain the question, its options in the order of the file, the place of the right one from 0, and the
type of the question, so that prompts, exports and readers of predictions need no other file (decision 91).
"""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.records import clip_key
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, VideoRecord
from foilworks.core.text.quoting import quoted

# `A. text`, `(A) text`, `A) text`, `A: text`.
_LABEL = re.compile(r"\(?([A-Z])[.):]\s*(?=\S)")


class Question(NamedTuple):
    """A question, its options in the order of the file, and the place of the right one.

    `is_caption`: the options are captions, which are scored without the question.
    """

    text: str
    options: Sequence[str]
    right: int
    kind: str = ""
    is_caption: bool = False


def item_of(
    question: Question,
    *,
    item_id: str,
    subtest: str,
    video: VideoRecord,
    test: str = "",
    facts: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    line: int | None = None,
) -> ItemRecord:
    """The item that asks the question. ProblemError: fewer than two options, or a text that is too long."""
    caption, foils, question_facts = texts_of(question)
    return ItemRecord(
        id=item_id,
        subtest=subtest[:MAX_LABEL],
        test=test,
        video=video,
        caption=caption,
        foils=foils,
        facts={**question_facts, **(facts or {})},
        extra=dict(extra or {}),
        line=line,
    )


def texts_of(question: Question) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """The caption, the foils and the facts. ProblemError: fewer than two options, or a text that is too long."""
    if not 2 <= len(question.options) <= len(ascii_uppercase):
        problem = f"has {len(question.options)} options"
        raise ProblemError("options", problem, f"give 2 to {len(ascii_uppercase)} of them")
    texts = [option if question.is_caption else f"Q: {question.text} A: {option}" for option in question.options]
    texts = [check_sentence(f"options[{index}]", text) for index, text in enumerate(texts)]
    facts = {"question": question.text, "options": list(question.options), "answer": question.right}
    foils = tuple(text for index, text in enumerate(texts) if index != question.right)
    return texts[question.right], foils, {**facts, **({"type": question.kind} if question.kind else {})}


def clip_of(
    dataset: str,
    source: str,
    *,
    file: str = "",
    start: float | None = None,
    end: float | None = None,
    unit: str = "sec",
    **labels: str,
) -> VideoRecord:
    """A clip of a source, whole or trimmed."""
    key = clip_key(dataset, source, start, end, unit)
    return VideoRecord(
        key=key,
        file=file,
        source_dataset=dataset,
        source_id=source[:MAX_ID],
        start_time=start,
        end_time=end,
        time_unit=unit,
        **labels,
    )


def required_label(fields: Fields, name: str, limit: int = MAX_ID) -> str:
    """A short text that the record must have."""
    value = fields.label(name, limit)
    if not value.strip():
        raise ProblemError(fields.name(name), "is missing", "give it")
    return value


def option_texts(name: str, value: Any) -> list[str]:
    """The options of a list, without the labels `A.`, `B.` … if all of them have theirs."""
    if not isinstance(value, list):
        raise ProblemError(name, "is not a list", "give a list with the options")
    texts = [check_sentence(f"{name}[{index}]", text) for index, text in enumerate(value)]
    matches = [_LABEL.match(text) for text in texts]
    labels = [label[1] for label in matches if label]
    if labels != list(ascii_uppercase[: len(texts)]):
        return texts
    return [text[label.end() :] for text, label in zip(texts, matches, strict=True) if label]


def index_of_letter(name: str, value: Any, n: int) -> int:
    """The place of an option that a letter names: A is 0."""
    letter = value.strip().upper() if isinstance(value, str) else ""
    if len(letter) != 1 or letter not in ascii_uppercase[:n]:
        problem = "is missing" if value is None else f"is {quoted(str(value))}"
        raise ProblemError(name, problem, f"give a letter from A to {ascii_uppercase[max(n, 1) - 1]}")
    return ascii_uppercase.index(letter)


def index_of_text(name: str, value: Any, options: Sequence[str]) -> int:
    """The place of the option that is equal to this text."""
    text = check_sentence(name, value)
    if text not in options:
        raise ProblemError(name, f"{quoted(text)} is not among the options", "give one of them")
    return options.index(text)
