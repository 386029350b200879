"""Search a written folder for what identifies people: names, accounts, addresses, folders. Every file is read, Parquet
row by row.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.anonymous import PERSONAL
from foilworks.core.corpus.export_formats.parts.documents import TEMPLATES
from foilworks.core.corpus.import_formats.parsing.parquet_rows import parquet_library

# Columns that are the benchmark itself: a word that is also an account or a family name is there by chance.
CONTENT = frozenset({"caption", "foils", "options", "proficiency", "class_label", "subtest", "test"})
ROWS_AT_ONCE = 2_000
MAX_LEAKS = 200
_WORD = re.compile(r"[\w.+@-]+")
EXPORTERS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Leak:
    """`is_certain`: False for a single word that can be there by chance."""

    where: str
    text: str
    is_certain: bool


class Identities:
    """What to search for: words and phrases by letters of any case, addresses as they are written.

    `ordinary`: texts whose words are there anyway, such as names of subtests.
    """

    def __init__(self, names: Iterable[str] = (), addresses: Iterable[str] = (), ordinary: Iterable[str] = ()):
        self.ordinary = _own_words() | {word for text in ordinary for word in _words(text)}
        self.addresses = sorted({text.strip().casefold() for text in addresses if text.strip()})
        self.words: set[str] = set()
        self.phrases: dict[str, list[str]] = {}
        for name in names:
            words = [word for word in _words(name) if word]
            if len(words) == 1 and len(words[0]) > 1:
                self.words.add(words[0])
            elif len(words) > 1:
                self.phrases.setdefault(words[0], []).append(" ".join(words))

    def in_text(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield (text that identifies somebody, whether it is certain)."""
        for identifier in PERSONAL.findall(text):
            yield identifier, True
        folded = text.casefold()
        for address in self.addresses:
            if address in folded:
                yield address, True
        tokens = _words(folded)
        joined = ""
        for token in dict.fromkeys(tokens):
            if token in self.words:
                yield token, token not in self.ordinary
            if token in self.phrases:
                joined = joined or f" {' '.join(tokens)} "
                yield from ((phrase, True) for phrase in self.phrases[token] if f" {phrase} " in joined)


def _words(text: str) -> list[str]:
    return [word.strip(".+@-").casefold() for word in _WORD.findall(text)]


@cache
def _own_words() -> frozenset[str]:
    """Return the words that exporters can write: an account of such a name cannot be told from them."""
    paths = [*EXPORTERS.rglob("*.py"), *(TEMPLATES / "exports").iterdir()]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return frozenset(word for text in texts for word in _words(text))


def search_folder(folder: Path, identities: Identities) -> list[Leak]:
    """Return what identifies people in names and contents of the files, each once per file; at most MAX_LEAKS."""
    leaks: dict[tuple[str, str], bool] = {}
    for where, column, text in _texts(folder):
        for identifier, is_certain in identities.in_text(text):
            # No sentence has a word with digits in it.
            by_chance = column in CONTENT and identifier in identities.words and identifier.isalpha()
            key = (where, identifier)
            leaks[key] = leaks.get(key, False) or (is_certain and not by_chance)
            if len(leaks) >= MAX_LEAKS:
                return _sorted(leaks)
    return _sorted(leaks)


def _sorted(certainty_by_leak: Mapping[tuple[str, str], bool]) -> list[Leak]:
    leaks = [Leak(where, text, is_certain) for (where, text), is_certain in certainty_by_leak.items()]
    return sorted(leaks, key=lambda leak: (not leak.is_certain, leak.where, leak.text))


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file, column, text); the column is "" outside tables."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        yield name, "subtest", name
        if path.is_dir():
            continue
        if path.suffix == ".parquet":
            yield from ((name, column, text) for column, text in _of_parquet(path))
        elif path.suffix == ".jsonl":
            yield from ((name, column, text) for column, text in _of_lines(path))
        else:
            yield name, "", path.read_bytes().decode("utf-8", "replace")


def _of_parquet(path: Path) -> Iterator[tuple[str, str]]:
    _arrow, parquet = parquet_library()
    file = parquet.ParquetFile(path)
    with file:
        yield "", str(file.schema_arrow.metadata or "")
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield from _of_row(row)


def _of_lines(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield from _of_row(json.loads(line))


def _of_row(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for column, value in row.items():
        yield from ((column, text) for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, child in value.items():
            yield str(name)
            yield from _strings(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _strings(child)
