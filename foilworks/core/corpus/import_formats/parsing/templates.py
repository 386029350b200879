"""Fill templates such as `{verb} {noun}` or `clips/{id:05d}.mp4` with the columns of a row. Pure.

A template comes from a page or a file, so it never reaches `str.format`: only names of columns and the formats below
have a meaning.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from string import Formatter
from typing import Any, NamedTuple

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.records import stem_of
from foilworks.core.corpus.import_formats.parsing.row_values import as_number, as_text
from foilworks.core.text.quoting import quoted

# Formats of texts: the name of a file without its folders, the same without its ending, the path
# without the ending of a video, lower case, the first letter.
_TEXT_FORMATS: dict[str, Callable[[str], str]] = {
    "name": lambda text: PurePosixPath(text.replace("\\", "/")).name,
    "stem": lambda text: PurePosixPath(text.replace("\\", "/")).stem,
    "lower": str.lower,
    "clip": stem_of,
    "initial": lambda text: text[:1],
}
# Formats of numbers: 05d, 3d, .2f. Two digits limit the length of what they write.
_NUMBER_FORMAT = re.compile(r"0?[0-9]{0,2}d|(\.[0-9])?f")
MAX_TEMPLATE = 1000
# Far above any text that can be stored; a template may name a long cell many times.
MAX_FILLED = 100_000


class Piece(NamedTuple):
    """A fixed text, then the value of a column (if any) in a format."""

    text: str
    column: str | None
    form: str


Source = tuple[Piece, ...]
Get = Callable[[str], Any]


def parse_source(source: str) -> Source:
    """A template if there are braces in it, else the name of a column. CorpusError: a template that has no meaning."""
    if len(source) > MAX_TEMPLATE:
        raise CorpusError(f"template: has {len(source)} characters, more than {MAX_TEMPLATE}; shorten it")
    if "{" not in source and "}" not in source:
        return (Piece("", source, ""),)
    try:
        pieces = [(text, name, spec or "", conversion) for text, name, spec, conversion in Formatter().parse(source)]
    except ValueError as error:
        raise CorpusError(f"template: {quoted(source)} is not valid ({error}); write {{column}}") from error
    for _text, name, spec, conversion in pieces:
        if name == "":
            raise CorpusError(f"template: {quoted(source)} has a pair of braces without a column; write {{column}}")
        if conversion or (spec and spec not in _TEXT_FORMATS and not _NUMBER_FORMAT.fullmatch(spec)):
            raise CorpusError(
                f"template: {quoted(spec or conversion)} in {quoted(source)} is not a format; "
                f"use {', '.join(_TEXT_FORMATS)}, or one of numbers, such as 05d or .1f"
            )
    # What `{a|b}` alone is, is no column of this name.
    last = (Piece("", None, ""),) * ("|" in source)
    return (*(Piece(text, name, spec) for text, name, spec, _conversion in pieces), *last)


def is_template(source: Source) -> bool:
    return len(source) > 1 or bool(source[0].text or source[0].form or source[0].column is None)


def columns_of(source: Source) -> list[str]:
    """`{a|b}` is the first of two columns that has a value."""
    return [
        name
        for piece in source
        if piece.column is not None
        for name in (piece.column.split("|") if is_template(source) else [piece.column])
    ]


def fill(source: Source, get: Get) -> Any:
    """The value of the column, or the text of the template; None if one of its columns has no value."""
    if not is_template(source):
        return get(source[0].column or "")
    text = ""
    for piece in source:
        text += piece.text
        if piece.column is not None:
            values = [value for name in piece.column.split("|") if (value := get(name)) not in (None, "")]
            if not values:
                return None
            text += _formatted(piece, values[0])
        if len(text) > MAX_FILLED:
            raise ProblemError(
                piece.column or "template", f"makes more than {MAX_FILLED} characters", "shorten the template"
            )
    return text


def _formatted(piece: Piece, value: Any) -> str:
    name = piece.column or ""
    if piece.form in _TEXT_FORMATS:
        return _TEXT_FORMATS[piece.form](as_text(name, value))
    if not piece.form:
        return as_text(name, value)
    number = as_number(value)
    if number is None or (piece.form.endswith("d") and number != int(number)):
        kind = "whole number" if piece.form.endswith("d") else "number"
        raise ProblemError(name, f"{quoted(value)} is not a {kind}", f"leave out :{piece.form} in the template")
    return format(int(number) if piece.form.endswith("d") else number, piece.form)
