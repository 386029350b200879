"""HTTP byte ranges (RFC 9110, Sec. 14), pure: browsers seek in a video only where these are answered."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 64 * 1024
_ONE_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE)
# More digits than any file has bytes; also keeps the conversion to int cheap for hostile headers.
_MAX_DIGITS = 18


class UnsatisfiableRangeError(Exception):
    """The file has none of the bytes asked for: answer 416 with `content_range` as its header."""

    def __init__(self, size: int):
        super().__init__(f"no such bytes in a file of {size}")
        self.content_range = f"bytes */{size}"


@dataclass(frozen=True)
class ByteRange:
    """Bytes `start` to `end` of a file, both included, as HTTP counts."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start + 1

    def content_range(self, size: int) -> str:
        """The value of the Content-Range header of a 206 answer."""
        return f"bytes {self.start}-{self.end}/{size}"


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """The range that a Range header asks of a file of `size` bytes; None: answer 200 with the whole file.

    None for no header, another unit, bad syntax and several ranges at once, which RFC 9110 lets a server
    ignore. Raises UnsatisfiableRangeError when the first byte lies behind the end, or an empty suffix is
    asked for.
    """
    match = _ONE_RANGE.fullmatch(header or "")
    if match is None or max(map(len, match.groups())) > _MAX_DIGITS:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        if int(last) == 0 or size == 0:
            raise UnsatisfiableRangeError(size)
        return ByteRange(max(0, size - int(last)), size - 1)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise UnsatisfiableRangeError(size)
    return ByteRange(int(first), min(int(last), size - 1) if last else size - 1)


def iter_bytes(file: BinaryIO, byte_range: ByteRange, chunk: int = CHUNK_BYTES) -> Iterator[bytes]:
    """The bytes of the range, `chunk` at a time; closes the file at the end, or when the reader goes away."""
    with file:
        file.seek(byte_range.start)
        remaining = byte_range.length
        while remaining > 0:
            block = file.read(min(chunk, remaining))
            if not block:
                return
            remaining -= len(block)
            yield block
