"""Is a video file whole? Read from its container's own sizes, because decoders pass over a missing end in
silence.

An mp4 is a row of boxes, a webm a tree of EBML elements; each says how long it is. A part that claims to end
behind the end of the file was cut off: an interrupted download or copy.
"""

import os
from pathlib import Path
from typing import BinaryIO

EBML_MAGIC = b"\x1aE\xdf\xa3"
EBML_HEADER, SEGMENT, CLUSTER = 0x1A45DFA3, 0x18538067, 0x1F43B675
UNKNOWN_SIZE = -1
MP4_FIRST_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"styp"})


def is_cut_short(path: Path) -> bool:
    """Whether an mp4 or webm file ends before its own sizes say; False for containers this does not know.

    Reads the headers of boxes and elements only, never their content. Errors: OSError when it cannot be read.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(8)
        file.seek(0)
        if head[4:8] in MP4_FIRST_BOXES:
            return _boxes_end(file, size) > size
        if head[:4] == EBML_MAGIC:
            return _elements_end(file, size) > size
    return False


def _boxes_end(file: BinaryIO, size: int) -> int:
    """Where the last box of the row ends; beyond `size` when a box, or the head of one, is incomplete."""
    position = 0
    while position < size:
        file.seek(position)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big") if len(head) == 16 else size
        elif length == 0:  # by the standard: the last box, up to the end of the file
            return size
        if length < 8 or len(head) < 8:
            return size + 1
        position += length
    return position


def _elements_end(file: BinaryIO, size: int) -> int:
    """Where the last element ends; goes into segments and clusters, whose size a live recording leaves
    unknown.
    """
    position = 0
    while position < size:
        file.seek(position)
        element = _element(file.read(12))
        if element is None:
            return size + 1
        kind, length, head = element
        if kind in (SEGMENT, CLUSTER):
            if length != UNKNOWN_SIZE and position + head + length > size:
                return size + 1
            position += head
        elif length == UNKNOWN_SIZE:
            return size
        else:
            position += head + length
    return position


def _element(head: bytes) -> tuple[int, int, int] | None:
    """(id, size of the content, bytes of this head), or None where the head is incomplete or no EBML."""
    id_length = _vint_length(head[:1])
    size_length = _vint_length(head[id_length : id_length + 1])
    total = id_length + size_length
    if not 1 <= id_length <= 4 or size_length == 0 or len(head) < total:
        return None
    kind = int.from_bytes(head[:id_length], "big")
    raw = int.from_bytes(head[id_length:total], "big")
    all_ones = (1 << (7 * size_length)) - 1
    value = raw & all_ones
    return kind, UNKNOWN_SIZE if value == all_ones else value, total


def _vint_length(first: bytes) -> int:
    """Length in bytes of the variable-size integer that starts with this byte; 0 when there is none."""
    return 9 - first[0].bit_length() if first and first[0] else 0
