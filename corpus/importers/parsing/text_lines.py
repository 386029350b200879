"""Read text files of any size line by line.

An unreadable file is one message with its line, raised when the reading comes there: anyone who stores it must have
read to the end before, or store nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from corpus.errors import CorpusError

# Far above any record that can be taken; without a limit a file without line feeds would be one line in memory.
MAX_LINE_BYTES = 16 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"


@contextmanager
def checked_file(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading; CorpusError where there is none or it cannot be read."""
    if not path.exists():
        raise CorpusError(f"{path}: file: there is no such file; check the path")
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise CorpusError(f"{path}: file: cannot be read ({error.strerror}); give a readable file") from error


def lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """(line number, text without its line feed) of every line that is not blank; None for a line that is too long.

    Only a line feed ends a line: JSON text may hold U+2028. A byte order mark is dropped. CorpusError: missing,
    unreadable, empty, not UTF-8.
    """
    number = 0
    for number, line in _decoded(path):
        if line is None or line.strip():
            yield number, line and line.removesuffix("\n")


def rows_of_text(path: Path) -> Iterator[str]:
    """The lines with their ends, as the csv module wants them: a carriage return alone ends one too. CorpusError as
    `lines`, and where a line is too long."""
    for number, line in _decoded(path):
        if line is None:
            problem = f"has more than {MAX_LINE_BYTES} bytes"
            raise CorpusError(f"{path}:{number}: line: {problem}; close its quotes, or break the line")
        yield from _at_carriage_returns(line)


def not_utf8(path: Path, line: int, byte: int) -> CorpusError:
    return CorpusError(f"{path}:{line}: encoding: byte 0x{byte:02x} is not UTF-8; save the file as UTF-8")


def _decoded(path: Path) -> Iterator[tuple[int, str | None]]:
    blank, number = True, 0
    with checked_file(path) as file:
        while data := file.readline(MAX_LINE_BYTES):
            number += 1
            data = data.removeprefix(_MARK) if number == 1 else data
            if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
                _skip_line(file)
                blank = False
                yield number, None
                continue
            try:
                line = data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(path, number, data[error.start]) from error
            blank = blank and not line.strip()
            yield number, line
    if blank:
        raise CorpusError(f"{path}:1: file: is empty; get a whole copy of it")


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
        pass


def _at_carriage_returns(line: str) -> Iterator[str]:
    start = 0
    while (end := line.find("\r", start)) >= 0 and line[end : end + 2] != "\r\n":
        yield line[start : end + 1]
        start = end + 1
    if start < len(line):
        yield line[start:]
