"""Read text files of any size line by line.

An unreadable file is one message with its line, raised when the reading comes there: anyone who stores it must have
read to the end before, or store nothing.
"""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.sheets import is_sheet, sheet_text

# Far above any record that can be taken; without a limit a file without line feeds would be one line in memory.
MAX_LINE_BYTES = 16 * 1024 * 1024
# Encodings of spreadsheets that do not save UTF-8, by region.
ENCODINGS = ["cp1252", "cp1250", "cp1251", "gb18030", "big5", "cp932", "euc_kr"]
# Of a few words, several encodings make letters: the letters must be as frequent as in a language.
MAX_GUESSED_BYTES, MAX_CHAOS, MIN_COHERENCE = 1024 * 1024, 0.1, 0.2
_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = frozenset({codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE})
_PACKED = "is compressed; unpack it first"
_PICKLE = "is a Python pickle; save its table as CSV or JSON lines"
# First bytes of files that are not UTF-8 text.
_OTHER_FILES = {
    b"\x1f\x8b": _PACKED,
    b"BZh": _PACKED,
    b"\xfd7zXZ\0": _PACKED,
    b"\x28\xb5\x2f\xfd": _PACKED,
    b"7z\xbc\xaf\x27\x1c": _PACKED,
    b"PK\3\4": "is a ZIP archive; unpack it",
    b"PAR1": "is a Parquet file; give it a name that ends in .parquet, and choose a format that reads Parquet",
    b"ARROW1": "is an Arrow file; save it as Parquet or JSON lines",
    b"\xff\xff\xff\xff": "is an Arrow stream; save it as Parquet or JSON lines",
    b"\x89HDF": "is an HDF5 file; save its table as CSV or JSON lines",
    b"\x93NUMPY": "is a NumPy array; save its table as CSV or JSON lines",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), _PICKLE),
    b"%PDF": "is a PDF; give the table itself",
}


@contextmanager
def checked_file(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading; CorpusError where there is none or it cannot be read."""
    if not path.exists():
        raise CorpusError(f"{path}: file: there is no such file; check the path")
    try:
        with path.open("rb") as file:
            if is_sheet(file, path.name):
                yield cast("BinaryIO", io.BytesIO(sheet_text(path).encode("utf-8")))
                return
            with as_utf8(file) as utf8_file:
                yield utf8_file
    except UnicodeError as error:
        raise CorpusError(f"{path}: file: is not whole UTF-16; save it again, or as UTF-8") from error
    except OSError as error:
        raise CorpusError(f"{path}: file: cannot be read ({error.strerror}); give a readable file") from error


@contextmanager
def as_utf8(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file, or a copy in UTF-8 of one in UTF-16, as Excel saves "Unicode text"."""
    is_utf16 = file.read(2) in _UTF16_MARKS
    file.seek(0)
    if not is_utf16:
        yield file
        return
    with SpooledTemporaryFile(MAX_LINE_BYTES) as copy:
        decoder = codecs.getincrementaldecoder("utf-16")()
        while data := file.read(MAX_LINE_BYTES):
            copy.write(decoder.decode(data).encode("utf-8"))
        decoder.decode(b"", final=True)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def decoded_head(data: bytes) -> str:
    """The text of the first bytes of a file; broken characters are left out."""
    return data.decode("utf-16" if data[:2] in _UTF16_MARKS else "utf-8-sig", "ignore").lstrip()


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
    for number, line in _decoded(path, is_table=True):
        if line is None:
            problem = f"has more than {MAX_LINE_BYTES} bytes"
            raise CorpusError(f"{path}:{number}: line: {problem}; close its quotes, or break the line")
        yield from _at_carriage_returns(line)


def not_utf8(path: Path, line: int, byte: int) -> CorpusError:
    """The error for a binary file, named by the bytes it starts with, or for text in another encoding."""
    with checked_file(path) as file:
        start = file.read(max(map(len, _OTHER_FILES)))
    for mark, problem in _OTHER_FILES.items():
        if start.startswith(mark):
            return CorpusError(f"{path}: file: {problem}")
    return CorpusError(f"{path}:{line}: encoding: byte 0x{byte:02x} is not UTF-8; save the file as UTF-8")


def encoding_of(data: bytes) -> str:
    """Return the encoding of text that is not UTF-8, as its letters and words suggest it; "" if it is not clear."""
    from charset_normalizer import from_bytes

    match = from_bytes(data[:MAX_GUESSED_BYTES], cp_isolation=ENCODINGS).best()
    is_clear = match is not None and match.chaos < MAX_CHAOS and match.coherence >= MIN_COHERENCE
    return match.encoding if match is not None and is_clear else ""


def guessed_encoding(path: Path) -> str:
    """Return the encoding in which a table is read because it is not UTF-8; "" for others. Its first MiB counts."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(MAX_GUESSED_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return _other_encoding(path)
    return ""


def _decoded(path: Path, *, is_table: bool = False) -> Iterator[tuple[int, str | None]]:
    """Yield numbered lines. Only tables can be in another encoding than UTF-8: JSON has no other (RFC 8259, 8.1)."""
    blank, number, encoding, is_ascii = True, 0, "utf-8", True
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
                line = data.decode(encoding)
            except UnicodeDecodeError as error:
                encoding = _other_encoding(path) if is_table and is_ascii and encoding == "utf-8" else ""
                if not encoding:
                    raise not_utf8(path, number, data[error.start]) from error
                line = data.decode(encoding, "replace")
            is_ascii = is_ascii and data.isascii()
            blank = blank and not line.strip()
            yield number, line
    if blank:
        raise CorpusError(f"{path}:1: file: is empty; get a whole copy of it")


def _other_encoding(path: Path) -> str:
    """Return the encoding of a file whose lines are ASCII up to one that is not UTF-8; "" if it is no text."""
    with path.open("rb") as file:
        data = file.read(MAX_GUESSED_BYTES)
    return "" if data.startswith(tuple(_OTHER_FILES)) or b"\0" in data else encoding_of(data)


def _skip_line(file: BinaryIO) -> None:
    while (chunk := file.readline(MAX_LINE_BYTES)) and not chunk.endswith(b"\n"):
        pass


def _at_carriage_returns(line: str) -> Iterator[str]:
    start = 0
    while (end := line.find("\r", start)) >= 0 and line[end : end + 2] != "\r\n":
        yield line[start : end + 1]
        start = end + 1
    if start < len(line):
        yield line[start:]
