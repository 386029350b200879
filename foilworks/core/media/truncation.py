"""Detect video files that were cut short, by their container's own sizes, because decoders ignore a missing end.

An mp4 is a row of boxes, a webm a tree of EBML elements, an AVI a row of RIFF chunks, an FLV a row of tags; each states
its length. A part that ends after the end of the file was cut off: an interrupted download or copy. Bytes after the
last part are not damage: some programs add a line feed or their own data.
"""

import os
from pathlib import Path
from typing import BinaryIO

EBML_MAGIC = b"\x1aE\xdf\xa3"
EBML_HEADER, SEGMENT, CLUSTER = 0x1A45DFA3, 0x18538067, 0x1F43B675
UNKNOWN_SIZE = -1
MP4_FIRST_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"styp"})
# A file that has these has all its pictures; behind them only a further fragment can hold more.
MP4_WHOLE = frozenset({b"moov", b"mdat"})
MP4_PICTURES = frozenset({b"moov", b"mdat", b"moof"})
TS_PACKET, TS_SYNC = 188, 0x47


def is_cut_short(path: Path) -> bool:
    """Whether an mp4, webm, AVI, FLV or transport stream ends before its own sizes say; False for others.

    Reads the headers of parts only, never their content. Errors: OSError when it cannot be read.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(12)
        file.seek(0)
        if head[4:8] in MP4_FIRST_BOXES:
            return _boxes_end(file, size) > size
        if head[:4] == EBML_MAGIC:
            return _elements_end(file, size) > size
        if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
            return _chunks_end(file, size) > size
        if head[:3] == b"FLV":
            return _tags_end(file, size) > size
        # The G of a GIF is the sync byte, too.
        return head[:1] == bytes([TS_SYNC]) and head[:4] != b"GIF8" and _ends_within_packet(file, size)


def has_fragments(path: Path) -> bool:
    """Whether an mp4 is written in fragments. OSError when it cannot be read."""
    with path.open("rb") as file:
        size, position = os.fstat(file.fileno()).st_size, 0
        while position + 8 <= size:
            file.seek(position)
            head = file.read(16)
            length = int.from_bytes(head[:4], "big")
            if head[4:8] == b"moof":
                return True
            length = int.from_bytes(head[8:16], "big") if length == 1 else length
            if length < 8:
                break
            position += length
    return False


def _chunks_end(file: BinaryIO, size: int) -> int:
    """Where the last RIFF chunk ends: large AVIs have several."""
    position = 0
    while position + 12 <= size:
        file.seek(position)
        head = file.read(12)
        if head[:4] != b"RIFF" or head[8:12] not in {b"AVI ", b"AVIX"}:
            break
        length = int.from_bytes(head[4:8], "little")
        # A recorder that was not stopped properly leaves the length out.
        position += 8 + (length + length % 2 if length else size)
        if not length:
            return size + 1
    # The last byte of padding may be missing.
    return max(position - 1, 0)


def _tags_end(file: BinaryIO, size: int) -> int:
    """Where the last FLV tag ends: each has 11 bytes of head, its content, and 4 bytes with its own length."""
    position = 9 + 4
    while position < size:
        file.seek(position)
        head = file.read(11)
        if head[:1] not in {b"\x08", b"\x09", b"\x12"}:
            return size
        if len(head) < 11:
            return size + 1
        # The length behind the last tag may be missing.
        position += 11 + int.from_bytes(head[1:4], "big")
        if position > size:
            return position
        position += 4
    return size


def _ends_within_packet(file: BinaryIO, size: int) -> bool:
    """Whether a transport stream breaks off inside a packet; other bytes behind the last packet are no part of it."""
    excess_bytes = size % TS_PACKET
    file.seek(size - excess_bytes)
    return excess_bytes > 0 and file.read(1) == bytes([TS_SYNC])


def _boxes_end(file: BinaryIO, size: int) -> int:
    """Where the last box of the row ends; beyond `size` when a box that is needed, or its head, is incomplete."""
    position, met = 0, set[bytes]()
    while position < size:
        file.seek(position)
        head = file.read(16)
        kind, length = head[4:8], int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big") if len(head) == 16 else size
        elif length == 0 and kind in MP4_PICTURES:  # by the standard: the last box, up to the end of the file
            return size
        is_whole = len(head) >= 8 and length >= 8 and position + length <= size
        if not is_whole:
            return size if met >= MP4_WHOLE and kind not in MP4_PICTURES else size + 1
        met.add(kind)
        position += length
    return position


def _elements_end(file: BinaryIO, size: int) -> int:
    """Where the last element ends; goes into segments and clusters, whose size a live recording leaves
    unknown.
    """
    position, segment_end = 0, -1
    while position < size:
        if position == segment_end:
            return size
        file.seek(position)
        element = ebml_element(file.read(12))
        if element is None:
            return size + 1
        kind, length, head = element
        if kind in (SEGMENT, CLUSTER):
            if length != UNKNOWN_SIZE and position + head + length > size:
                return size + 1
            if kind == SEGMENT and length != UNKNOWN_SIZE:
                segment_end = position + head + length
            position += head
        elif length == UNKNOWN_SIZE:
            return size
        else:
            position += head + length
    return position


def ebml_element(head: bytes) -> tuple[int, int, int] | None:
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
