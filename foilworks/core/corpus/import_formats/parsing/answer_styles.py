"""Find which option an answer means, or whether it is yes or no.

Files write answers as the text of an option, as its name (a letter, a column), or as its number from 0 or from 1. One
record can leave open which, such as 1 of three options: `AnswerStyles` then decides by the other records of the file.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.text.model_answers import polar
from foilworks.core.text.quoting import quoted

TEXT, NAME, FROM_0, FROM_1 = "text", "name", "number from 0", "number from 1"
# What an answer alone is taken for, in this order; numbers count from 0.
PREFERRED = (TEXT, NAME, FROM_0)
# With fewer undecided records, numbers count from 0; with more, the file is refused.
FEW_RECORDS = 20
# Of the questions with 0 or 1; more open questions than that show that these are no labels.
MAX_OPEN = 0.1
# They can also be a number, or the name of an option: the other answers of the file decide.
_SHORT_YES, _SHORT_NO = frozenset({"1", "1.0", "y", "t"}), frozenset({"0", "0.0", "n", "f"})
# Words of labels of statements in other languages and of entailment, and the signs of Korean and Portuguese tests.
_MORE_YES = frozenset(
    "si wahr vrai verdadero verdadeiro vero correct correcto correto corretto richtig korrekt entailment "  # noqa: SIM905
    "entailed entails match matches valid supported o ○ v 对 對 正确 正確 正しい 참 맞음".split()
)
_MORE_NO = frozenset(
    "nao falsch faux falso incorrect incorrecto incorreto scorretto inkorrekt contradiction contradicted "  # noqa: SIM905
    "contradicts mismatch invalid refuted x × 不是 错 錯 错误 錯誤 誤り 거짓 틀림".split()
)
OTHER = "other"
_BEFORE = r"^\s*(?:(?:Option|Sentence|Caption|Choice|Description|Answer)[:\s]\s*)?"
# "B", "(b)", "B.", "Option 2".
_BARE = re.compile(rf"{_BEFORE}\(?([A-Ja-j]|[1-9])\)?[.:)]?\s*$")
# "(B) kick", "B. kick", "Option 2: kick", "B.kick".
_PREFIXED = re.compile(rf"{_BEFORE}(?:\(?([A-J1-9])[.:)]\s+|\(?([A-J])[.:)](?=\S))(\S.*?)\s*$", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,3}(\.0)?")
# An answer 1 to "How many …?" is a number, not a yes; of "Which …?", it is the number of an option.
_OPEN_QUESTION = re.compile(
    r"\s*(?:what|who|whom|whose|where|when|why|which|how)\b|.*\bhow (?:many|much)\b", re.I | re.S
)

OptionByStyle = Mapping[str, int]


class AmbiguousAnswersError(CorpusError):
    """A file leaves open what its answers mean."""


@dataclass(frozen=True)
class Choices:
    """The options of a record. `raw`: as the file has them, `texts`: without their names, `names`: A, B …, or the keys
    of an object; `columns`: the columns that they are in. `numbers`: the file has them as numbers, not as texts."""

    texts: tuple[str, ...]
    raw: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    numbers: bool = False


def split_name(text: str) -> tuple[str, str]:
    """Return "(A) kick" as "A" and "kick"; a text without a name as "" and the text."""
    match = _PREFIXED.match(text)
    return (match.group(1) or match.group(2), match.group(3)) if match else ("", text)


def readings(answer: Any, choices: Choices) -> OptionByStyle:
    """Return what the answer can mean: way of writing -> index of the option. Empty: none of them.

    ProblemError: it names one option, and has the text of another.
    """
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return {}
    text_of_answer, indices = str(answer).strip(), dict[str, int]()
    name, option_text = split_name(text_of_answer)
    if isinstance(answer, str) or choices.numbers:
        text = _option_with_text(text_of_answer, choices.raw, choices.texts)
        if text is None and name:
            text, named_index = _option_with_text(option_text, choices.texts), _option_with_name(name, choices)
            if text is not None and named_index is not None and text != named_index:
                raise ProblemError(
                    "answer",
                    f"{quoted(text_of_answer)} names option {named_index + 1}, and has the text of option {text + 1}",
                    "correct one of the two",
                )
        if text is not None:
            indices[TEXT] = text
    bare = _BARE.match(text_of_answer)
    bare_index = _option_with_name(bare.group(1) if bare else name, choices, text_of_answer)
    if bare_index is not None:
        indices[NAME] = bare_index
    if _NUMBER.fullmatch(text_of_answer):
        number, n = int(float(text_of_answer)), len(choices.texts)
        indices |= {FROM_0: number} if number < n else {}
        indices |= {FROM_1: number - 1} if 1 <= number <= n else {}
    return indices


def _option_with_text(answer: str, *options: Sequence[str]) -> int | None:
    """Return the only option with this text; without one, the only one but for case, blanks and a final full stop."""
    for normalize in (str.strip, _normalize_loosely):
        for texts in options:
            matching = [index for index, text in enumerate(texts) if normalize(text) == normalize(answer)]
            if len(matching) == 1:
                return matching[0]
            if matching:
                return None
    return None


def _normalize_loosely(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _option_with_name(name: str, choices: Choices, column_text: str = "") -> int | None:
    """Return the option of a name, or of the column `column_text`; letters count the options that have no names."""
    folded = name.casefold()
    names = [option_name.casefold() for option_name in choices.names]
    if folded and folded in names:
        return names.index(folded)
    if column_text and column_text.casefold() in (columns := [column.casefold() for column in choices.columns]):
        return columns.index(column_text.casefold())
    has_letters = any(option_name.isalpha() for option_name in names)
    if folded and folded.isalpha() and not has_letters and ord(folded) - ord("a") < len(choices.texts):
        return ord(folded) - ord("a")
    return None


def preferred(option_of_style: OptionByStyle) -> int | None:
    """Return the option that an answer means without other records; None: none."""
    return next((option_of_style[style] for style in PREFERRED if style in option_of_style), None)


def no_option(column: str, answer: Any, n: int) -> ProblemError:
    """Return that an answer is none of n options."""
    fix = f"give the text of an option, its letter (A to {chr(ord('A') + n - 1)}) or its number (0 to {n - 1})"
    return ProblemError(column, "is missing" if answer is None else f"is {quoted(str(answer))}", fix)


def label_of(answer: Any) -> bool | None:
    """Return whether an answer is yes or true, also as 1; None if it is neither that nor the opposite."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    word = str(answer).strip().rstrip(".!").casefold()
    if word in _SHORT_YES | _SHORT_NO:
        return word in _SHORT_YES
    return {"yes": True, "no": False}.get(polar(word))


def word_of_label(answer: Any) -> bool | None:
    """Return whether a cell of a column of labels says that a text is true; other words than yes and no count, too."""
    label = label_of(answer)
    if label is not None or not isinstance(answer, str):
        return label
    word = answer.strip().rstrip(".!").casefold()
    first = word.split(" ", 1)[0] if " " in word else word
    if word in _MORE_YES or first in {"matches", "correct", "true"}:
        return True
    is_no = word in _MORE_NO or first in {"contradicts", "incorrect", "false"} or word.startswith(("does not ", "not "))
    return False if is_no else None


def explains_itself(answer: Any) -> bool:
    """Report whether a label says true or false of a text under any heading, such as "contradiction"."""
    word = str(answer).strip().rstrip(".!").casefold()
    return word in _MORE_YES | _MORE_NO or (bool(" " in word) and word_of_label(answer) is not None)


def is_short_label(answer: Any) -> bool:
    """Report whether a label is 0 or 1, or one letter, instead of a word."""
    word = str(answer).strip().rstrip(".!").casefold()
    return not isinstance(answer, bool) and word in _SHORT_YES | _SHORT_NO


def is_open(question: str) -> bool:
    """Report whether a question asks for more than yes or no."""
    return _OPEN_QUESTION.match(question) is not None


@dataclass
class AnswerStyles:
    """How the columns of a file write their answers. `possible`: column -> way of writing -> records that allow it.

    Of columns of labels: `numbers` that are 0 or 1, those for `open` questions. Columns `with_other_answers` have
    answers that are not labels. `before`: the answers of other files of the benchmark, which decide what this file
    leaves open.
    """

    possible: dict[str, Counter[str]] = field(default_factory=dict)
    records: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    with_other_answers: set[str] = field(default_factory=set)
    before: "AnswerStyles | None" = None

    def add(self, file_styles: "AnswerStyles") -> None:
        """Add the answers of another file."""
        self.records += file_styles.records
        for column, counts in file_styles.possible.items():
            self.possible.setdefault(column, Counter()).update(counts)

    def note(self, answers: Mapping[str, OptionByStyle]) -> None:
        for column, indices in answers.items():
            if indices:
                self.records[column] += 1
                self.possible.setdefault(column, Counter()).update(indices.keys())

    def note_label(self, column: str, answer: Any, question: str, label: bool | None) -> None:
        """Note a label, or another answer in its column (`label` is None): then 0 and 1 are not labels."""
        if label is None:
            self.with_other_answers.add(column)
        elif is_short_label(answer):
            self.numbers[column] += 1
            self.open[column] += is_open(question)

    def has_number_labels(self, column: str) -> bool:
        """Report whether 0 and 1 are labels in a column."""
        return column not in self.with_other_answers and self.open[column] <= MAX_OPEN * self.numbers[column]

    def usual_styles(self, column: str) -> set[str]:
        """Return the ways of writing that most records of the column allow."""
        counts = self.possible.get(column, Counter[str]())
        most = max(counts.values(), default=0)
        styles = {style for style, n in counts.items() if n == most}
        decided = styles & self.before.usual_styles(column) if self.before and len(styles) > 1 else set()
        return decided or styles

    def possible_options(self, column: str, option_of_style: OptionByStyle) -> set[int]:
        """Return the options that an answer can mean in this file."""
        styles = self.usual_styles(column)
        if possible := {option_of_style[style] for style in option_of_style if style in styles}:
            return possible
        # A text or a letter is one among numbers, too.
        return {index for style, index in option_of_style.items() if style in {TEXT, NAME}}

    def common_option(self, answers: Mapping[str, OptionByStyle], where: str) -> int | None:
        """Return the option that all answer columns of a record mean; None: none of them is an option.

        ProblemError: they mean different options. AmbiguousAnswersError: the file leaves open what they mean.
        """
        possible = {
            column: options
            for column, indices in answers.items()
            if (options := self.possible_options(column, indices))
        }
        if not possible:
            return None
        common = set.intersection(*possible.values())
        if len(common) == 1:
            return common.pop()
        if not common:
            raise _disagreement_error(possible)
        column, indices = next((column, answers[column]) for column in possible)
        if self.records[column] >= FEW_RECORDS:
            raise _ambiguity_error(
                where, column, {style: indices[style] for style in indices if style in self.usual_styles(column)}
            )
        return preferred({style: index for style, index in indices.items() if index in common})


def _disagreement_error(possible: Mapping[str, Iterable[int]]) -> ProblemError:
    meanings = ", ".join(
        f"{column} means option {' or '.join(str(n + 1) for n in sorted(options))}"
        for column, options in possible.items()
    )
    return ProblemError("answer", f"differs between columns: {meanings}", "choose one, such as --column answer=COLUMN")


def _ambiguity_error(where: str, column: str, indices: OptionByStyle) -> AmbiguousAnswersError:
    readings_text = " or ".join(f"{style} (option {index + 1})" for style, index in indices.items())
    return AmbiguousAnswersError(
        f"{where}: {column}: can be read in several ways in all records: {readings_text}; give the letters or the "
        "texts of the right options"
    )
