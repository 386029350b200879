"""Find right and wrong texts in a record of any form: by the names of its columns, or as `--column` maps them."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foilworks.core.corpus.import_formats.parsing.answer_styles import (
    AnswerStyles,
    Choices,
    OptionByStyle,
    is_short_label,
    label_of,
    no_option,
    readings,
    split_name,
    word_of_label,
)
from foilworks.core.corpus.import_formats.parsing.cell_lists import foils_in, inline_options, options_in
from foilworks.core.corpus.import_formats.parsing.column_names import (
    MAX_LABEL,
    ROLES,
    SERIES,
    Columns,
    columns_of,
    is_of_errors,
    named,
    series_of,
)
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.records import MAX_TEXT, TextRecord
from foilworks.core.text.markup import without_markup
from foilworks.core.text.quoting import quoted

# A line of a question with one option: "A. kick", "Option 1: …", "(B) …".
_LINE = re.compile(r"^\s*(?:(?:Option|Sentence|Caption|Choice|Description)\s+)?\(?([A-J1-9])[.:)]\s+(\S.*?)\s*$")
# Options "A Ella", "B Lucy": the letters are names only in this order.
_LETTERED = re.compile(r"([A-J])\s+(\S.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
# A list in a cell of a table; Python writes it with single quotes.
MAX_LIST = 20_000
LETTERS, DIGITS = "ABCDEFGHIJ", "123456789"
MAX_SHOWN = 12
YES_NO, TRUE_FALSE = ("yes", "no"), ("true", "false")


class OpenAnswerError(ProblemError):
    """A question that no wrong text belongs to. `record` has it with its answer, for readers that measure it."""

    def __init__(self, record: TextRecord, field: str, problem: str, fix: str):
        super().__init__(field, problem, fix)
        self.record = record


@dataclass(frozen=True)
class Draft:
    """A record whose right text is open until the file's way of writing answers is known.

    `record`: a record without open questions. Otherwise `raw_answers`: column -> answer, `answers`: column -> what it
    can mean (of `choices`); without options, `text` is what the label is about.
    """

    where: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    record: TextRecord | None = None
    question: str = ""
    choices: Choices | None = None
    is_question: bool = False
    raw_answers: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, OptionByStyle] = field(default_factory=dict)
    address: tuple[str, int, int] | None = None

    @property
    def labels(self) -> dict[str, bool | None]:
        """Return whether each answer says yes or true; in a column such as "hallucinated", yes means false."""
        read = label_of if self.is_question else word_of_label
        return {
            column: read(answer) if label_of(answer) is None or not is_of_errors(column) else not label_of(answer)
            for column, answer in self.raw_answers.items()
        }

    def note(self, styles: AnswerStyles) -> None:
        """Tell the file's styles what the answers can mean."""
        if self.choices is not None:
            styles.note(self.answers)
        elif self.record is None:
            for column, answer in self.raw_answers.items():
                styles.note_label(column, answer, self.question if self.is_question else "", self.labels[column])


def draft_of(values: Mapping[str, Any], where: int, columns: Columns, defaults: Mapping[str, str]) -> Draft:
    """Return the draft of a record. `columns` maps roles to columns; `defaults` are the values of absent columns.

    ProblemError: no right text, no wrong text, or no answer.
    """
    role_values = {role: named(values, role, columns) for role in ROLES}
    facts: dict[str, Any] = {
        name: _label(role_values[name]) or defaults.get(name, "") for name in ("id", "subtest", "split", "video")
    }
    facts |= {name: _label(role_values[name]) for name in ("licence", "language")}
    facts |= {"clip": clip_of(facts["video"], values), "group": defaults.get("group", "")}
    spoken = role_values["transcript"] or ""
    facts["transcript"] = " ".join(map(str, spoken)) if isinstance(spoken, list) else str(spoken)
    if role_values["right"] is not None and role_values["wrongs"] is not None:
        question = _text("question", role_values["question"]) if role_values["question"] not in (None, "") else ""
        right = _text("caption", role_values["right"])
        false_texts = listed(role_values["wrongs"])
        false_texts = list(false_texts.values()) if isinstance(false_texts, Mapping) else false_texts
        wrongs = tuple(_texts("foils", false_texts))
        if not wrongs:
            raise ProblemError("foils", "is empty", "give at least one wrong text per item")
        wrongs = tuple(foils_in(wrongs[0], right)) if len(wrongs) == 1 else wrongs
        return Draft(where, record=TextRecord(right, wrongs, where, question=question, **facts))
    answers = _answers(values, columns)
    question = "" if role_values["question"] in (None, "") else _long_text("question", role_values["question"])
    choices, question_text = _choices(values, role_values["options"], columns, question, list(answers.values()))
    if choices is not None:
        if len(choices.texts) < 2:
            raise ProblemError("options", "has fewer than two options", "give at least one wrong option per question")
        if not answers:
            raise _missing_answer_error(values, choices)
        if len(question_text) > MAX_TEXT:
            raise ProblemError("question", f"has {len(question_text)} characters, more than {MAX_TEXT}", "shorten it")
        meanings = {column: readings(answer, choices) for column, answer in answers.items()}
        return Draft(where, facts, question=question_text, choices=choices, raw_answers=answers, answers=meanings)
    return _labelled_draft(values, where, facts, answers, columns)


def record_of_draft(draft: Draft, styles: AnswerStyles) -> TextRecord:
    """Return the record of a draft, as the file writes answers. ProblemError or CorpusError: it has no right text."""
    if draft.record is not None:
        return draft.record
    if draft.choices is None:
        return _record_of_label(draft, styles)
    index = styles.common_option(draft.answers, f"line {draft.where}")
    options = draft.choices.texts
    if index is None:
        column, answer = next(iter(draft.raw_answers.items()))
        raise no_option("answer" if len(draft.raw_answers) == 1 else column, answer, len(options))
    wrongs = options[:index] + options[index + 1 :]
    if draft.question and _are_labels(options):
        return replace(_label_record(draft, bool(label_of(options[index]))), position=index)
    return TextRecord(options[index], wrongs, draft.where, question=draft.question, position=index, **draft.facts)


def _are_labels(options: Sequence[str]) -> bool:
    """Report whether the options are yes and no in words."""
    if len(options) != 2 or any(map(is_short_label, options)):
        return False
    return {label_of(option) for option in options} == {True, False}


def _label_record(draft: Draft, label: bool) -> TextRecord:
    right, wrong = (YES_NO if draft.is_question or draft.choices else TRUE_FALSE)[:: 1 if label else -1]
    return TextRecord(right, (wrong,), draft.where, question=draft.question, is_label=True, **draft.facts)


def _labelled_draft(
    values: Mapping[str, Any], where: int, facts: Mapping[str, Any], answers: Mapping[str, Any], columns: Columns
) -> Draft:
    """Return the draft of a statement with its label, or of a question with yes or no."""
    text, is_question = _labelled_text(values, columns)
    if not answers and (is_question or columns_of(values, "question")):
        raise _missing_answer_error(values)
    if answers and not text:
        raise _missing_question_error(values, answers)
    if not text or not answers:
        raise _unknown_form_error(values, columns)
    return Draft(where, facts, question=text, is_question=is_question, raw_answers=answers)


def _record_of_label(draft: Draft, styles: AnswerStyles) -> TextRecord:
    labels: dict[str, bool] = {}
    for column, label in draft.labels.items():
        answer = draft.raw_answers[column]
        is_word = label is not None and not is_short_label(answer)
        if label is not None and (is_word or styles.has_number_labels(column)):
            labels[column] = label
    if not labels:
        raise _free_text_error(draft)
    if len(set(labels.values())) > 1:
        disagreement = ", ".join(f"{column} is {draft.raw_answers[column]!s:.20}" for column in labels)
        raise ProblemError(
            "answer", f"differs between columns: {disagreement}", "choose one, such as --column answer=COLUMN"
        )
    return _label_record(draft, next(iter(labels.values())))


def _labelled_text(values: Mapping[str, Any], columns: Columns) -> tuple[str, bool]:
    """Return the text that a label is about, and whether it is a question. ProblemError: it could be one of several."""
    mapped = next((role for role in ("question", "right") if role in columns), "")
    if mapped:
        value = named(values, "question", columns) if mapped == "question" else values.get(columns["right"])
        return ("" if value is None else _text(columns[mapped], value)), mapped == "question"
    question_columns = columns_of(values, "question")
    statement_columns = columns_of(values, "statement")
    if question_columns and question_columns[0].lower() == "question":
        return _text("question", values[question_columns[0]]), True
    # A sentence beside a search query (NLVR2) is the statement; a caption beside a query can be either.
    clear = [name for name in statement_columns if name.lower() in {"statement", "sentence", "hypothesis", "claim"}]
    text_columns = clear or statement_columns
    if len(text_columns) > 1:
        raise ProblemError(
            "record",
            f"has several texts that its label can be about: {', '.join(text_columns)}",
            f"choose one, such as --column question={text_columns[0]}",
        )
    if not text_columns:
        return "", False
    text = _text(text_columns[0], values[text_columns[0]])
    return text, not clear and text_columns[0].lower() != "caption" and text.rstrip().endswith("?")


def _answers(values: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    if "answer" in columns:
        answer = named(values, "answer", columns)
        return {} if answer is None else {columns["answer"]: answer}
    return {name: values[name] for name in columns_of(values, "answer") if values[name] != ""}


def clip_of(video: str, values: Mapping[str, Any]) -> str:
    """Return the name of the part of the video that an item shows."""
    times = [values.get(name) for name in ("start_time", "end_time")]
    return video if times == [None, None] else f"{video}@{times[0]}-{times[1]}"


def _choices(
    values: Mapping[str, Any], options: Any, columns: Columns, question: str, answers: Sequence[Any]
) -> tuple[Choices | None, str]:
    """Return the options, and the question without them; None and the question if there are none."""
    if isinstance(options, Mapping):
        keys = tuple(map(str, options))
        return Choices(tuple(_texts("options", list(options.values()))), names=keys), question
    if options is not None:
        choices, question = _choices_of_list(options, question, answers)
        mapped = tuple(name.strip() for name in columns.get("options", "").split("+"))
        return replace(choices, columns=mapped if len(mapped) == len(choices.texts) else ()), question
    if "options" not in columns:
        for series in SERIES:
            names = series_of(values, series)
            if len(names) > 1:
                return Choices(tuple(_text(name, values[name]) for name in names), columns=tuple(names)), question
    lines = question.split("\n")
    lettered_lines = [(match.group(1), match.group(2)) for line in lines if (match := _LINE.match(line))]
    question_text = " ".join(line for line in lines if not _LINE.match(line)).strip()
    letters = "".join(name for name, _text in lettered_lines)
    if len(lettered_lines) > 1 and letters in (LETTERS[: len(letters)], DIGITS[: len(letters)]):
        return _named_choices(lettered_lines, [text for _name, text in lettered_lines]), question_text
    before, inline = inline_options(question)
    # A letter among the words of a question is no option, unless the answer is one of these letters.
    if len(inline) > 1 and any(
        name.casefold() == str(answer).strip(" .()").casefold() for answer in answers for name, _text in inline
    ):
        return _named_choices(inline, [text for _name, text in inline]), before
    return None, question


def _choices_of_list(options: Any, question: str, answers: Sequence[Any]) -> tuple[Choices, str]:
    listing = listed(options)
    if isinstance(listing, str):
        _before, inline = inline_options(listing)
        if len(inline) > 1:
            return _named_choices(inline, [text for _name, text in inline]), question
        listing = options_in(listing, answers)
        if listing is None:
            raise ProblemError(
                "options", "is one text, not a list", "give the options as a list, or in columns a0, a1 …"
            )
    raw = _texts("options", listing)
    numbers = isinstance(listing, list) and all(isinstance(option, int | float) for option in listing)
    split = [split_name(text) for text in raw]
    letters = [match.groups() for text in raw if (match := _LETTERED.fullmatch(text.strip()))]
    if len(raw) > 1 and "".join(letter for letter, _rest in letters) == LETTERS[: len(raw)]:
        split = [(letter, text) for letter, text in letters]
    names = [name for name, _rest in split]
    # One option such as "C. Ronaldo" has no name.
    if all(names) and len(set(names)) == len(names):
        return _named_choices(split, raw), question
    return Choices(tuple(raw), tuple(raw), numbers=numbers), question


def _named_choices(named_texts: Sequence[tuple[str, str]], raw: Sequence[str]) -> Choices:
    names, texts = (
        tuple(name for name, _text in named_texts),
        tuple(_text("options", text) for _name, text in named_texts),
    )
    return Choices(texts, tuple(raw), names if len(set(names)) == len(names) else ())


def listed(value: Any) -> Any:
    """Return the list that a text is, as JSON or as Python writes it; any other value as it is."""
    if not isinstance(value, str) or not (value.strip()[:1] == "[" and value.strip()[-1:] == "]"):
        return value
    text = value.strip()
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        # Of brackets inside brackets, the parser of Python can exhaust the stack.
        if len(text) > MAX_LIST or re.search(r"[\[({]", re.sub(r"'[^']*'|\"[^\"]*\"", "", text[1:])):
            return value
        try:
            items = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    is_texts = isinstance(items, list) and all(isinstance(item, str | int | float) for item in items)
    return items if is_texts else value


def _text(name: str, value: Any) -> str:
    text = _long_text(name, value)
    if len(text) > MAX_TEXT:
        raise ProblemError(name, f"has {len(text)} characters, more than {MAX_TEXT}", "shorten it")
    return text


def _long_text(name: str, value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(name, "is missing or is not text", "give a non-empty text")
    return without_markup(value)


def _texts(name: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [_text(f"{name}[{index}]", item) for index, item in enumerate(values)]


def _label(value: Any) -> str:
    """Return a short text; a list of ids is joined, anything else is its JSON-like form."""
    if value is None:
        return ""
    joined_text = "+".join(map(str, value)) if isinstance(value, list) else str(value)
    return joined_text.strip()[:MAX_LABEL]


def _field_names(values: Mapping[str, Any]) -> str:
    return (", ".join(list(map(str, values))[:MAX_SHOWN]) or "none")[:MAX_LABEL]


def _free_text_error(draft: Draft) -> ProblemError:
    column, answer = next(iter(draft.raw_answers.items()))
    answer_kind = "a number" if _NUMBER.fullmatch(str(answer).strip()) else "free text"
    problem = f"is {answer_kind} ({quoted(str(answer))}), and there are no wrong texts to compare it with"
    fix = "add options or foils; without them, only questions have answers that are measured"
    if not draft.is_question or isinstance(answer, Mapping | list):
        return ProblemError(column, problem, fix)
    record = TextRecord(_text(column, answer), (), draft.where, question=draft.question, **draft.facts)
    return OpenAnswerError(record, column, problem, fix)


def _missing_answer_error(values: Mapping[str, Any], choices: Choices | None = None) -> ProblemError:
    if choices and choices.columns and choices.columns[0].lower().startswith("answer"):
        return ProblemError(
            "answer",
            f"is in several columns ({', '.join(choices.columns)}), and none says which of them is right",
            "name the column of the right one answer; if all of them are right, they are free text, which cannot be "
            "audited",
        )
    if choices and choices.columns and choices.columns[0].lower().startswith("caption"):
        return ProblemError(
            "answer",
            f"is missing, and so are the pictures of {', '.join(choices.columns)} (fields: {_field_names(values)})",
            "add a column answer; if each caption is right for one picture, name the pictures image_0 and image_1",
        )
    return ProblemError(
        "answer",
        f"is missing (fields: {_field_names(values)})",
        "add a column answer; the command can also read a second file of answers by id with --answers FILE, or map a "
        "column with --column answer=NAME",
    )


def _missing_question_error(values: Mapping[str, Any], answers: Mapping[str, Any]) -> ProblemError:
    return ProblemError(
        "record",
        f"has an answer ({', '.join(answers)}), but no question, options or caption (fields: {_field_names(values)})",
        "give the file with the questions; if the answers are in a second file, the command reads it with --answers "
        "FILE",
    )


def _unknown_form_error(values: Mapping[str, Any], columns: Columns) -> ProblemError:
    known_columns = [f"{role}={name}" for role in ROLES if role not in columns for name in columns_of(values, role)[:1]]
    return ProblemError(
        "record",
        "has no caption with foils, no options with an answer and no text with a label "
        f"(fields: {_field_names(values)}; known: {', '.join(known_columns) or 'none'})",
        "rename the columns to caption and foil, or to question, options and answer; the command can also map them, "
        "such as --column right=true_caption,wrongs=false_caption",
    )
