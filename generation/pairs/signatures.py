"""An index of captions by their text without one of its words, and by their words in any order.

Captions that share an entry differ in one word, or in the order of words. A private SQLite file holds it, so memory
stays bounded: SQLite sorts the entries on disk.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from types import TracebackType
from typing import NamedTuple, Self

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.tokens import words
from generation.pairs.contrast import can_change
from generation.pairs.proposals import PairCaption

MIN_WORDS, MAX_WORDS = 3, 30
# Of an entry that thousands of captions share, so many are drawn.
MAX_DRAWN = 32
# Word that stands for the removed one, and that no text has.
GAP = "\0"
# The columns of captions are the fields of PairCaption, in order.
TABLES = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;
CREATE TABLE captions (
    id INTEGER PRIMARY KEY, text, clip, source, dataset, category, label, movie, start, end, duration
);
CREATE TABLE entries (signature INTEGER, draw INTEGER, caption INTEGER, word TEXT, source TEXT);
CREATE TABLE found (score INTEGER, draw INTEGER, a INTEGER, b INTEGER, change TEXT, word TEXT, other TEXT);
"""
INSERT = "INSERT OR IGNORE INTO captions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Entry(NamedTuple):
    """A caption in a bucket: `word` is the removed one, "" in a bucket of equal words in any order."""

    caption: int
    word: str
    source: str


class PairCandidate(NamedTuple):
    """A pair of captions that the index found, before it is judged in its context."""

    score: int
    draw: int
    a: int
    b: int
    change: str
    word: str
    other_word: str


class SignatureIndex:
    """Captions and their signatures in a temporary file. ActionableError: the temporary folder is full."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        # An empty name is a private file, as in foilworks/core/text/spill.py.
        self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._file.executescript(TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, captions: Iterable[PairCaption]) -> int:
        """Add captions; return how many were read."""
        n_captions = 0
        self._run("BEGIN")
        for caption in captions:
            n_captions += 1
            self._run(INSERT, *vars(caption).values())
            self._many("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", self._entries(caption))
        self._run("COMMIT")
        self._run("CREATE INDEX of_clip ON captions (clip)")
        return n_captions

    def _entries(self, caption: PairCaption) -> Iterator[tuple[int, int, int, str, str]]:
        text_words = words(caption.text)
        if not MIN_WORDS <= len(text_words) <= MAX_WORDS:
            return
        draw = number_of(str(self._seed), caption.clip, caption.text)
        for index, word in enumerate(text_words):
            if can_change(word):
                yield (
                    number_of(*text_words[:index], GAP, *text_words[index + 1 :]),
                    draw,
                    caption.id,
                    word,
                    caption.source,
                )
        yield number_of(GAP, *sorted(text_words)), draw, caption.id, "", caption.source

    def buckets(self) -> Iterator[list[Entry]]:
        """Yield the captions that share a signature, at most MAX_DRAWN of them, drawn by the seed."""
        rows = self._run(
            "SELECT signature, caption, word, source FROM entries WHERE signature IN "
            "(SELECT signature FROM entries GROUP BY signature HAVING COUNT(*) > 1) ORDER BY signature, draw, caption"
        )
        for _, members in groupby(rows, key=lambda row: row[0]):
            drawn_entries = [Entry(*row[1:]) for row, _ in zip(members, range(MAX_DRAWN), strict=False)]
            if len(drawn_entries) > 1:
                yield drawn_entries

    def note(self, candidates: Iterable[PairCandidate]) -> None:
        """Store found pairs; `best` returns them in order."""
        self._many("INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?)", candidates)

    def best(self) -> Iterator[PairCandidate]:
        """Yield the found pairs, the highest score first; the seed orders equal ones."""
        for row in self._run("SELECT * FROM found ORDER BY score DESC, draw, a, b"):
            yield PairCandidate(*row)

    def caption(self, number: int) -> PairCaption:
        """Return a caption by its id."""
        return PairCaption(*self._run("SELECT * FROM captions WHERE id = ?", number).fetchone())

    def texts_of(self, clip: str) -> list[str]:
        """Return all captions of a clip."""
        return [text for (text,) in self._run("SELECT text FROM captions WHERE clip = ?", clip)]

    def draw(self, *said: str) -> int:
        """Return a number that the seed decides."""
        return number_of(str(self._seed), *said)

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._file.execute(statement, values)
        except sqlite3.OperationalError as error:
            raise _no_space(error) from error

    def _many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._file.executemany(statement, rows)
        except sqlite3.OperationalError as error:
            raise _no_space(error) from error


def number_of(*said: str) -> int:
    """Return a signed 64-bit hash of the strings."""
    digest = hashlib.sha256("\x1f".join(said).encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _no_space(error: sqlite3.OperationalError) -> ActionableError:
    return ActionableError(f"temporary folder: no space to compare captions ({error}); free space there")
