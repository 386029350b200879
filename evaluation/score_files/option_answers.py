"""Read answers to questions with options as models write them: `B`, `(B) a text`, `The answer is B.`, `Yes, it is.`

The options and their order are those of the item's `facts`, as the publisher has them. An answer names an option by its
letter, by its number after a word (`Option 2`), by its text, or by a number alone, which counts from 0. If a letter and
a text disagree, the letter counts. An answer that names no option, or several, is wrong, and its item is listed.
"""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from evaluation.score_files.json_records import Row
from foilworks.core.text.quoting import quoted

_LEAD = r"(?P<lead>(?:the\s+)?(?:(?:best|correct|right|final)\s+)?(?:answer|option|choice)\s*(?:is|:)\s*)"
_WORD = r"(?P<word>(?:option|choice|answer|sentence|caption|statement)\s+)"
_LABEL = re.compile(
    rf"\W{{0,9}}{_LEAD}?{_WORD}?\W{{0,9}}(?P<mark>[a-z]|\d)(?![a-z0-9'])(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
# A second label: the answer names several options.
_AND_ANOTHER = re.compile(r"\W{0,9}(?:and|or)?\W{0,9}\b[A-Z]\b\W{0,9}", re.DOTALL)
_ENDS = frozenset(".,:;!?)]*")
# Letters that are also words.
_WORDS = frozenset("AI")
_AROUND = " \t\r\n.,:;!?\"'()[]*"


def option_scores(row: Row, record: Mapping[str, Any], unparsed: list[str], *, may_count: bool) -> list[float]:
    """Return 1 for the chosen text of the item and 0 for the others, the caption first.

    `unparsed` gets the item's id if no option can be read. `may_count`: numbers are places of options; otherwise they
    are refused, since they could also be places of the item's texts. The row is bad if its `right` is another option.
    """
    options, right = record["facts"].get("options"), record["facts"].get("answer")
    if not isinstance(options, list) or not isinstance(right, int):
        row.fail("id", f"the item {quoted(record['id'])} has no options", "choose mc, with the position of the text")
    if row.fields.get("right") not in (None, "") and _place(row, "right", options, may_count=may_count) != right:
        file_answer = quoted(str(row.fields["right"]))
        fix = "give the answers to the questions of this release, with the options in their published order"
        row.fail("right", f"is {file_answer}, but the release has {quoted(options[right])}", fix)
    answer_index = _place(row, "prediction", options, may_count=may_count)
    if answer_index is None:
        unparsed.append(record["id"])
    return _winner(answer_index, right, record["foil_positions"])


def _winner(answer_index: int | None, right: int, positions: Sequence[int]) -> list[float]:
    """Return the scores of the texts. A wrong answer whose foil is not in the release counts for the first foil."""
    if answer_index == right:
        return [1.0, *[0.0] * len(positions)]
    foil = None if answer_index is None else answer_index - (answer_index > right)
    at = positions.index(foil) if foil in positions else 0
    return [0.0, *[float(index == at) for index in range(len(positions))]]


def _place(row: Row, field: str, options: Sequence[str], *, may_count: bool) -> int | None:
    value = row.fields.get(field)
    text = "" if value is None else str(value).strip()
    if not re.fullmatch(r"-?\d+", text) or isinstance(value, bool):
        return chosen_option(text, options)
    if not may_count:
        problem = f"is {text}, which may be the place of a published option or of a text of the item"
        row.fail(field, problem, "choose letters for the option, counted from 0, or mc for the text")
    if isinstance(value, str) and text in options:
        row.fail(field, f"is {text}, which may be an option or its place", "give the letter of the option")
    number = int(text)
    if number >= len(options):
        row.fail(field, f"is {text}", f"give the place of an option, 0 to {len(options) - 1}")
    return number if number >= 0 else None


def chosen_option(answer: str, options: Sequence[str]) -> int | None:
    """Return the place of the option that an answer names, or None if it names none or several."""
    text, plain = answer.strip(), _plain(answer)
    equal = [index for index, option in enumerate(options) if _plain(option) == plain and plain]
    labelled = _labelled(text, len(options))
    if len(equal) == 1 and labelled in (None, equal[0]):
        return equal[0]
    if labelled is not None:
        # "A" may be the letter, or one of the options "A" and "B".
        return None if equal else labelled
    starts = [index for index, option in enumerate(options) if not equal and _starts(text, option)]
    return starts[0] if len(starts) == 1 else None


def _labelled(text: str, n: int) -> int | None:
    match = _LABEL.match(text)
    if not match:
        return None
    mark, word, remainder = match["mark"], match["word"], match["rest"]
    if mark.isdigit() and not word:
        return None
    # "A dog runs" starts with a word, not with a letter.
    is_said = (word and (mark.isdigit() or mark.isupper())) or (match["lead"] and mark.isupper() and mark not in _WORDS)
    is_marked = not remainder.strip() or remainder[0] in _ENDS or is_said
    if not is_marked or _AND_ANOTHER.fullmatch(remainder):
        return None
    index = int(mark) - 1 if mark.isdigit() else ascii_uppercase.index(mark.upper())
    return index if 0 <= index < n else None


def _starts(text: str, option: str) -> bool:
    """Report whether the answer is the option and then a further sentence or clause."""
    start = option.strip(_AROUND)
    text = text.lstrip(_AROUND)
    return bool(start) and text.lower().startswith(start.lower()) and text[len(start) : len(start) + 1] in _ENDS


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_AROUND)
