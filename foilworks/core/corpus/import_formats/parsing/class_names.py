"""Read the names of numbered classes: one name per line, `NUMBER NAME` lines, or JSON in either direction."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.corpus.import_formats.parsing.text_lines import lines

_NUMBER = re.compile(r"\d{1,6}")
_NUMBERED = re.compile(r"\"?(\d{1,6})\"?[\s,;]+(.*\S)")


def is_number(label: str) -> bool:
    """Whether a class is only numbered."""
    return bool(_NUMBER.fullmatch(label))


def class_names(path: str) -> dict[str, str] | None:
    """Return the names by number, as text without leading zeros; None if no file is given.

    `0 abseiling`, `0,abseiling` (a header is left out), or names alone, counted from 0; JSON as {"0": "abseiling"},
    {"abseiling": 0} or a list. CorpusError: the file cannot be read, or is none of these.
    """
    if not path:
        return None
    texts = [(text or "").strip() for _, text in lines(Path(path))]
    if texts[0][:1] in {"{", "["}:
        return _from_json(path, "".join(texts))
    matches = [_NUMBERED.fullmatch(text) for text in texts]
    if all(matches[1:]) and len(matches) > 1:
        return {str(int(match[1])): match[2].strip('" ') for match in matches if match}
    return {str(number): text.strip('" ') for number, text in enumerate(texts)}


def _from_json(path: str, text: str) -> dict[str, str]:
    fix = 'write {"0": "NAME"}, {"NAME": 0}, or one name per line'
    try:
        data: Any = parse_line(text)
    except ValueError as error:
        raise CorpusError(f"{path}:1: classes: is not JSON ({error}); {fix}") from error
    if isinstance(data, list):
        data = dict(enumerate(data))
    pairs = list(data.items()) if isinstance(data, Mapping) else []
    if pairs and all(is_number(str(name)) and isinstance(label, str) for name, label in pairs):
        return {str(int(name)): str(label) for name, label in pairs}
    if pairs and all(is_number(str(number)) for _, number in pairs):
        return {str(int(number)): str(label) for label, number in pairs}
    raise CorpusError(f"{path}:1: classes: has no names by number; {fix}")
