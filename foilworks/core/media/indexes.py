"""Detect what Firefox misreads in a file's index: edit lists of an mp4, and a webm without an index.

Read from the bytes, because FFmpeg hides both.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from foilworks.core.media.truncation import SEGMENT, UNKNOWN_SIZE, ebml_element

CUES = 0x1C53BB6B
# Boxes of an mp4 that contain boxes, on the way to an edit list and to the ticks of its track.
PARENTS = frozenset({b"moov", b"trak", b"edts", b"mdia"})
HEAD = 8
# moov, trak, and edts or mdia. A file may nest them without end.
MAX_DEPTH = 3
# An edit that shows nothing: media_time is -1.
EMPTY = -1


def misreads_late_start(path: Path) -> bool:
    """Whether a picture or sound of an mp4 starts late by an edit list whose ticks are not those of the track.

    An edit list counts in ticks of the movie. Firefox 153 takes them for ticks of the track: 1.5 s become 0.09 s.
    OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        return _is_late(file, 0, os.fstat(file.fileno()).st_size)


def _is_late(file: BinaryIO, start: int, end: int) -> bool:
    """Boxes come in this order: mvhd, then per track edts, mdhd, hdlr."""
    movie, is_empty, ticks = 0, False, 0
    for kind, content in _boxes(file, start, end):
        if kind == b"mvhd":
            movie = _ticks(content)
        elif kind == b"trak":
            is_empty = False
        elif kind == b"elst":
            is_empty = _starts_empty(content)
        elif kind == b"mdhd":
            ticks = _ticks(content)
        elif kind == b"hdlr" and content[8:12] in {b"vide", b"soun"} and is_empty and ticks != movie:
            return True
    return False


def _boxes(file: BinaryIO, start: int, end: int, depth: int = 0) -> Iterator[tuple[bytes, bytes]]:
    """(kind, content) of the boxes in order, parents before their children and without content."""
    while start + HEAD <= end:
        file.seek(start)
        head = file.read(2 * HEAD)
        kind, length, size = head[4:8], int.from_bytes(head[:4], "big"), HEAD
        if length == 1:
            length, size = int.from_bytes(head[8:16], "big"), 2 * HEAD
        if length < size:
            return
        if kind in PARENTS and depth < MAX_DEPTH:
            yield kind, b""
            yield from _boxes(file, start + size, min(start + length, end), depth + 1)
        elif kind in {b"mvhd", b"elst", b"mdhd", b"hdlr"}:
            file.seek(start + size)
            # The first entry of a list is enough.
            yield kind, file.read(min(length - size, 64))
        start += length


def _ticks(header: bytes) -> int:
    """Ticks per second, of mvhd or mdhd; times are longer in version 1."""
    offset = 20 if header[:1] == b"\x01" else 12
    return int.from_bytes(header[offset : offset + 4], "big")


def _starts_empty(edits: bytes) -> bool:
    size = 8 if edits[:1] == b"\x01" else 4
    first = edits[8 : 8 + 2 * size]
    return len(first) == 2 * size and int.from_bytes(first[size:], "big", signed=True) == EMPTY


def has_index(path: Path) -> bool:
    """Whether a webm states the size of each part and where its key frames are; live recordings do not.

    Firefox cannot seek in others. OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        size, position, is_found = os.fstat(file.fileno()).st_size, 0, False
        while position < size:
            file.seek(position)
            element = ebml_element(file.read(12))
            if element is None:
                break
            kind, length, head = element
            if length == UNKNOWN_SIZE:
                return False
            is_found = is_found or kind == CUES
            position += head if kind == SEGMENT else head + length
    return is_found
