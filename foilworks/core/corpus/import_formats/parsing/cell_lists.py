"""Split a cell that holds several texts: options with letters, on lines, or between bars or semicolons. Pure."""

import re
from collections.abc import Collection
from typing import Any

from foilworks.core.corpus.import_formats.parsing.row_values import nested

MAX_PARTS = 12
# Options in one line: "(a) Open (b) Closed".
_INLINE = re.compile(r"(?:^|(?<=[\s.?!]))\(?([A-Ja-j])[.:)]\s*(?=\S)")
_SEPARATORS = ("\n", "|", ";", " / ")


def inline_options(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text before "A. …  B. …", and the named options: letters in order from A."""
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(text):
        if len(marks) <= 1 and match.group(1).upper() == "A":
            # "In the U.S.A. A. …": the last A counts.
            marks = [match] if match.start() == 0 or text[match.start() - 1].isspace() else marks
        elif match.group(1).upper() == chr(ord("A") + len(marks)):
            marks.append(match)
    ends = [*(match.start() for match in marks[1:]), len(text)]
    options = (
        [(match.group(1), text[match.end() : end].strip().rstrip(",;")) for match, end in zip(marks, ends, strict=True)]
        if marks
        else []
    )
    return (text[: marks[0].start()].strip() if marks else text), [pair for pair in options if pair[1]]


def options_in(value: Any, answers: Collection[Any] = ()) -> list[Any] | None:
    """Return the options of one cell: a list, or parts of a text; None if it is one text.

    Commas separate only if an answer is one of the parts.
    """
    value = nested(value)
    if isinstance(value, list) or not isinstance(value, str):
        return value if isinstance(value, list) else None
    if len(named := inline_options(value)[1]) > 1:
        return [f"{name}. {text}" for name, text in named]
    for separator in _SEPARATORS:
        if parts := _parts(value, separator):
            return list(parts)
    parts = _parts(value, ",")
    return list(parts) if {str(answer).strip() for answer in answers} & {*parts} else None


def foils_in(text: str, caption: str) -> list[str]:
    """Return the false texts of one cell; a separator that the caption has is part of the text."""
    for separator in _SEPARATORS:
        if separator not in caption and (parts := _parts(text, separator)):
            return parts
    return [text]


def _parts(text: str, separator: str) -> list[str]:
    parts = [part.strip() for part in text.strip(f" {separator}").split(separator)]
    return parts if 1 < len(parts) <= MAX_PARTS and all(parts) else []
