"""Describe the values of the columns of a table: shares of files, times and texts, and which texts resemble others.

Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.row_values import (
    PLACE,
    Row,
    as_number,
    as_seconds,
    nested,
    value_at,
)
from foilworks.core.corpus.import_formats.parsing.splits import named_split
from foilworks.core.text.comparable import comparable
from foilworks.core.text.markup import without_markup
from foilworks.core.text.tokens import words

VIDEO_FILE = re.compile(r"[^<>\n]*[^<>\s]\.(mp4|webm|mov|mkv|avi|3gp|gif|m4v|jpg|jpeg|png)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s]{1,80}")
# Of the words of two texts, the share that both have.
_SHARED = 0.5
MAX_COLUMNS = 400


@dataclass(frozen=True)
class Profile:
    """What the values of a column look like: shares of those that are there; `words` is a mean."""

    name: str
    filled: float
    numbers: float
    times: float
    files: float
    tokens: float
    urls: float
    lists: float
    words: float
    # Cells of several sentences with semicolons between them.
    several: float
    distinct: float
    questions: float
    splits: float
    uploads: float
    values: tuple[Any, ...]


def profiles_of(rows: Sequence[Row], video_names: Collection[str] = ()) -> dict[str, Profile]:
    """Return the profiles by column. `video_names`: the names of the clips' files, if they are at hand."""
    names = _comparable_names(video_names)
    return {name: _profile(name, rows, names) for name in columns_in(rows) if name != PLACE}


def columns_in(rows: Sequence[Row], depth: int = 3) -> list[str]:
    """Names of all columns, and of values inside them: `segment.0`, `info.title`, `choices.*.choice`."""
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            _add_names(name, value, depth, names)
            if PLACE in row and _is_pairs(nested(value)):
                names |= {f"{name}.{PLACE}.0": None, f"{name}.{PLACE}.1": None}
    return list(names)[:MAX_COLUMNS]


def text_columns(rows: Sequence[Row]) -> list[str]:
    """Names of the columns that hold texts or lists of texts."""
    return [name for name in columns_in(rows) if any(map(_is_text, (value_at(row, name) for row in rows)))]


def names_in(rows: Sequence[Row], video_names: Collection[str]) -> list[str]:
    """Return the names of files that cells of the rows contain, with or without their endings."""
    cells = _comparable_names([str(value_at(row, name)) for name in columns_in(rows) for row in rows])
    return sorted(name for name in video_names if not cells.isdisjoint(_forms_of_name(name)))


def resemblance(rows: Sequence[Row], name: str, other_name: str) -> float:
    """Return the share of rows in which a text differs by few words from the other one, but differs."""
    pairs = [(_texts(value_at(row, name)), _texts(value_at(row, other_name))) for row in rows]
    filled_pairs = [(texts[:1], other_texts) for texts, other_texts in pairs if texts and other_texts]
    alike = sum(any(_are_alike(texts[0], other) for other in other_texts) for texts, other_texts in filled_pairs)
    return alike / max(1, len(filled_pairs))


def closeness(rows: Sequence[Row], name: str, other_name: str) -> float:
    """Return the mean share of the words that the first text shares with the nearest text of another column."""
    pairs = [(_texts(value_at(row, name)), _texts(value_at(row, other_name))) for row in rows]
    shares = [max(_shared(texts[0], other) for other in others) for texts, others in pairs if texts and others]
    return sum(shares) / max(1, len(shares))


def _are_alike(text: str, other: str) -> bool:
    return comparable(text) != comparable(other) and _shared(text, other) >= _SHARED


def _shared(text: str, other: str) -> float:
    """Return the share of the longer text's words that both have; 0 of single words."""
    counts, other_counts = Counter(words(text)), Counter(words(other))
    longest = max(counts.total(), other_counts.total())
    return (counts & other_counts).total() / longest if longest > 1 else 0.0


def _texts(value: Any) -> list[str]:
    value = nested(value)
    texts = value if isinstance(value, list) else [value]
    return [without_markup(text) for text in texts if isinstance(text, str) and text]


def _is_text(value: Any) -> bool:
    value = nested(value)
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, str) for entry in value)
    return isinstance(value, str) and bool(value) and as_number(value) is None


def _is_pairs(value: Any) -> bool:
    """Whether a list may hold the times of the entries of another one."""
    return isinstance(value, list) and bool(value) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _add_names(name: str, value: Any, depth: int, names: dict[str, None]) -> None:
    names.setdefault(name)
    value = nested(value)
    if depth == 0:
        return
    if isinstance(value, Mapping):
        for key, inner in list(value.items())[:20]:
            _add_names(f"{name}.{key}", inner, depth - 1, names)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for key in value[0]:
            names.setdefault(f"{name}.*.{key}")
    elif isinstance(value, list) and 0 < len(value) <= 4:
        for index, inner in enumerate(value):
            if not isinstance(inner, str | list | Mapping):
                names.setdefault(f"{name}.{index}")


def _profile(name: str, rows: Sequence[Row], video_names: frozenset[str]) -> Profile:
    cells = [value_at(row, name) for row in rows]
    values = [value for value in cells if value is not None and value != ""]
    texts = [without_markup(value) for value in values if isinstance(value, str)]
    n = max(1, len(values))
    return Profile(
        name=name,
        filled=len(values) / max(1, len(cells)),
        numbers=sum(as_number(value) is not None for value in values) / n,
        times=sum(map(_is_time, values)) / n,
        files=sum(bool(VIDEO_FILE.fullmatch(text.partition("?")[0])) for text in texts) / n,
        tokens=sum(bool(_TOKEN.fullmatch(str(value))) for value in values) / n,
        urls=sum(text.startswith(("http://", "https://")) for text in texts) / n,
        lists=sum(isinstance(nested(value), list | dict) for value in values) / n,
        words=sum(map(_n_words, texts)) / n,
        several=sum(bool(re.search(r"\w\.?;\w", text)) for text in texts) / n,
        distinct=len(set(map(str, values))) / n,
        questions=sum(text.rstrip().endswith(("?", "\uff1f")) for text in texts) / n,
        splits=sum(bool(named_split(value)) for value in values) / n,
        uploads=sum(not video_names.isdisjoint(_forms_of_name(str(value))) for value in values) / n,
        values=tuple(values),
    )


def _n_words(text: str) -> int:
    """Return the number of words; a name such as P01_11 is one."""
    return len(text.split() if text.isascii() else words(text))


def _comparable_names(names: Collection[str]) -> frozenset[str]:
    """Return the names of files, with and without their endings, as people write them."""
    return frozenset(form for name in names for form in _forms_of_name(name))


def _forms_of_name(name: str) -> Iterator[str]:
    path = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/").casefold().strip())
    yield path.name
    if VIDEO_FILE.fullmatch(path.name):
        yield path.stem


def _is_time(value: Any) -> bool:
    try:
        return as_number(as_seconds("time", value)) is not None
    except ProblemError:
        return False
