"""Share what formats of questions with options have: a question becomes a caption and its foils.

Each text is `Q: QUESTION A: OPTION`: the right option is the caption, the others are the foils in the order of the
file. `facts` contain the question, its options in the order of the file, the place of the right one from 0, and the
type of the question, so that prompts, exports and readers of predictions need no other file (decision 91).
"""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from foilworks.core.corpus.import_formats.parsing.answer_styles import FROM_0, FROM_1, NAME, TEXT, Choices, readings
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


def answer_index(options: Sequence[str], answer: Any, *, spelled: Sequence[str] = (), first: int = 0) -> int:
    """The place of the option that an answer names by its text, number or letter. `spelled`: the options as the file
    has them; `first`: the number of the first one.

    ProblemError: it names none of them, or one as a number and another as a text.
    """
    if answer is None:
        raise ProblemError("answer", "is missing", "give the number, letter or text of the right candidate")
    option_of_style = readings(answer, Choices(tuple(options), tuple(spelled)))
    of_text, of_number = option_of_style.get(TEXT), option_of_style.get(FROM_1 if first else FROM_0)
    if of_text is not None and of_number is not None and of_text != of_number:
        problem = f"is {quoted(str(answer))}, which is both a number and the text of another candidate"
        raise ProblemError("answer", problem, "give its number in a column of its own")
    index = next((at for at in (of_text, of_number, option_of_style.get(NAME)) if at is not None), None)
    if index is None:
        fix = f"correct the answer (the candidates are {len(options)}, counted from {first})"
        raise ProblemError("answer", f"{quoted(str(answer))} is none of them", fix)
    return index
