"""Whether a file ends before its own sizes say, from bytes that are written here."""

from pathlib import Path

import pytest

from foilworks.core.media.indexes import has_index
from foilworks.core.media.truncation import UNKNOWN_SIZE, ebml_element, has_fragments, is_cut_short


@pytest.fixture
def cut(tmp_path: Path):
    def judge(data: bytes) -> bool:
        path = tmp_path / "file"
        path.write_bytes(data)
        return is_cut_short(path)

    return judge


def box(kind: bytes, content: bytes = b"", length: int | None = None) -> bytes:
    return (8 + len(content) if length is None else length).to_bytes(4, "big") + kind + content


def long_box(kind: bytes, content: bytes = b"") -> bytes:
    return box(kind, (16 + len(content)).to_bytes(8, "big") + content, length=1)


FTYP, MOOV = box(b"ftyp", bytes(8)), box(b"moov", bytes(20))
MDAT = box(b"mdat", bytes(30))


@pytest.mark.parametrize("first", [b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"styp"])
def test_an_mp4_may_start_with_any_of_its_boxes(cut, first):
    assert not cut(box(first, bytes(8)))
    assert cut(box(first, bytes(8))[:-1])


@pytest.mark.parametrize(
    ("data", "is_cut"),
    [
        (FTYP + MOOV + MDAT, False),
        (FTYP + MOOV + MDAT[:-1], True),
        (FTYP + MOOV + MDAT[:7], True),
        (FTYP + MOOV + long_box(b"mdat", bytes(30)), False),
        (FTYP + MOOV + long_box(b"mdat", bytes(30))[:-1], True),
        (FTYP + MOOV + long_box(b"mdat")[:12], True),
        # The last box may go up to the end of the file, whatever that is.
        (FTYP + MOOV + box(b"mdat", bytes(30), length=0), False),
        (FTYP + MDAT + box(b"moov", bytes(30), length=0), False),
        (FTYP + MDAT + box(b"moof", bytes(30), length=0), False),
        (FTYP + MDAT + box(b"free", bytes(30), length=0), True),
        # With pictures and their index met, only a further fragment can be missing.
        (FTYP + MOOV + MDAT + b"\n", False),
        (FTYP + MOOV + MDAT + box(b"junk", b"", length=7), False),
        (FTYP + MOOV + MDAT + box(b"junk", b"", length=99), False),
        (FTYP + MOOV + MDAT + box(b"moof", b"", length=99), True),
        (FTYP + MOOV + MDAT + box(b"mdat", b"", length=99), True),
        (FTYP + MDAT + box(b"junk", b"", length=99), True),
        (FTYP + MOOV + box(b"free"), False),
        # A box of eight bytes is its head.
        (FTYP + box(b"free", b"", length=7) + MOOV, True),
    ],
)
def test_an_mp4_is_a_row_of_boxes(cut, data, is_cut):
    assert cut(data) is is_cut


def test_fragments_are_found_behind_other_boxes(tmp_path):
    path, moof = tmp_path / "clip.mp4", box(b"moof")
    for data, is_found in [
        (FTYP + MOOV + MDAT, False),
        (FTYP + moof, True),
        (FTYP + long_box(b"mdat", bytes(30)) + moof, True),
        (FTYP + moof[:-1], False),
        # A box that states less than its head ends the row.
        (FTYP + box(b"free", b"", length=7) + moof, False),
        (FTYP + box(b"free") + moof, True),
        (box(b"ftyp", b"moof", length=12), False),
    ]:
        path.write_bytes(data)
        assert has_fragments(path) is is_found


def riff(kind: bytes, content: bytes, length: int | None = None) -> bytes:
    return b"RIFF" + (4 + len(content) if length is None else length).to_bytes(4, "little") + kind + content


AVI = riff(b"AVI ", bytes(300))


@pytest.mark.parametrize(
    ("data", "is_cut"),
    [
        (AVI, False),
        # A byte of padding may be missing, two bytes may not.
        (AVI[:-1], False),
        (AVI[:-2], True),
        (riff(b"AVI ", bytes(301)) + b"\0", False),
        (riff(b"AVI ", bytes(301)), False),
        (riff(b"AVI ", bytes(301))[:-1], True),
        (AVI + riff(b"AVIX", bytes(40)) + riff(b"AVIX", bytes(20)), False),
        (AVI + riff(b"AVIX", bytes(40)) + riff(b"AVIX", bytes(20))[:-2], True),
        (AVI + riff(b"AVIX", b""), False),
        (AVI + riff(b"junk", bytes(40))[:-9], False),
        (AVI + b"JUNK" + riff(b"AVIX", bytes(40))[4:-9], False),
        # A recorder that was not stopped leaves the length out.
        (riff(b"AVI ", bytes(300), length=0), True),
        (AVI + riff(b"AVIX", bytes(300), length=0), True),
        (riff(b"WAVE", bytes(300))[:-9], False),
    ],
)
def test_an_avi_is_a_row_of_riff_chunks(cut, data, is_cut):
    assert cut(data) is is_cut


def tag(kind: int, n: int) -> bytes:
    return bytes([kind]) + n.to_bytes(3, "big") + bytes(7) + bytes([0xFF]) * n + (11 + n).to_bytes(4, "big")


FLV = b"FLV\x01\x05" + (9).to_bytes(4, "big") + bytes(4)


@pytest.mark.parametrize("kind", [8, 9, 18])
def test_an_flv_is_a_row_of_tags_of_three_kinds(cut, kind):
    whole = FLV + tag(18, 70) + tag(kind, 300) + tag(9, 20)
    assert not cut(whole)
    # The length behind the last tag may be missing.
    assert not cut(whole[:-4])
    assert cut(whole[:-5])
    assert cut(FLV + tag(kind, 300)[:200])
    assert cut(FLV + tag(18, 70) + tag(kind, 300)[:10])
    assert not cut(FLV + tag(kind, 300) + b"\x07 other bytes")
    assert not cut(FLV)


def test_a_transport_stream_is_a_row_of_packets_of_188_bytes(cut):
    packet = b"G" + bytes([1]) * 187
    assert not cut(packet * 3)
    assert cut(packet * 3 + packet[:1])
    assert cut((packet * 3)[:-1])
    assert not cut(packet * 3 + b"\n" * 5)
    # A GIF starts with the same byte.
    assert not cut(b"GIF89a" + b"G" * 200)
    assert cut(b"GIF9" + bytes(184) + b"G")
    assert not cut(b"\x00" * 188 + b"G")


def element(kind: int, content: bytes, size: bytes | None = None) -> bytes:
    head = kind.to_bytes((kind.bit_length() + 7) // 8, "big")
    return head + ((1 << 28) + len(content)).to_bytes(4, "big") * (size is None) + (size or b"") + content


EBML = element(0x1A45DFA3, bytes(10))
BLOCK = element(0xA3, bytes(40))
UNKNOWN = b"\xff"


def segment(content: bytes, size: bytes | None = None) -> bytes:
    return element(0x18538067, content, size)


def cluster(content: bytes, size: bytes | None = None) -> bytes:
    return element(0x1F43B675, content, size)


@pytest.mark.parametrize(
    ("data", "is_cut"),
    [
        (EBML + segment(cluster(BLOCK) + cluster(BLOCK)), False),
        (EBML + segment(cluster(BLOCK) + cluster(BLOCK))[:-1], True),
        (EBML + segment(b"")[:3], True),
        # What follows the segment is no part of it.
        (EBML + segment(cluster(BLOCK)) + b"\n", False),
        (EBML + segment(cluster(BLOCK)) + BLOCK[:9], False),
        # A live recording states neither size; each block states its own.
        (EBML + segment(cluster(BLOCK, UNKNOWN) + cluster(BLOCK, UNKNOWN), UNKNOWN), False),
        (EBML + segment(cluster(BLOCK, UNKNOWN) + cluster(BLOCK[:-1], UNKNOWN), UNKNOWN), True),
        (EBML + segment(cluster(BLOCK, UNKNOWN), UNKNOWN) + b"\n", True),
        (EBML + segment(cluster(BLOCK), UNKNOWN), False),
        (EBML + segment(cluster(BLOCK)[:-1], UNKNOWN), True),
        # An element of unknown size that holds no others goes up to the end.
        (EBML + segment(element(0xEC, bytes(9), UNKNOWN), UNKNOWN), False),
        (EBML + segment(BLOCK), False),
    ],
)
def test_a_webm_is_a_tree_of_elements(cut, data, is_cut):
    assert cut(data) is is_cut


@pytest.mark.parametrize(
    ("data", "is_found"),
    [
        (EBML + segment(cluster(BLOCK) + element(0x1C53BB6B, bytes(5))), True),
        (EBML + segment(element(0x1C53BB6B, bytes(5)) + cluster(BLOCK)), True),
        # Other bytes behind the segment take nothing back.
        (EBML + segment(element(0x1C53BB6B, bytes(5)) + cluster(BLOCK)) + b"\n", True),
        (EBML + segment(cluster(BLOCK)) + b"\n", False),
        (EBML + segment(cluster(BLOCK)), False),
        # A live recording cannot be sought in, whatever it has.
        (EBML + segment(element(0x1C53BB6B, bytes(5)) + cluster(BLOCK, UNKNOWN)), False),
        (EBML + segment(cluster(BLOCK) + element(0x1C53BB6B, bytes(5)), UNKNOWN), False),
        # The bytes of an index inside of a cluster are pictures.
        (EBML + segment(cluster(element(0x1C53BB6B, bytes(5)))), False),
    ],
)
def test_a_webm_has_an_index_if_one_part_of_it_is(tmp_path, data, is_found):
    path = tmp_path / "clip.webm"
    path.write_bytes(data)
    assert has_index(path) is is_found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"\xa3\x85", (0xA3, 5, 2)),
        (b"\x42\x86\x40\x10", (0x4286, 16, 4)),
        (b"\x1a\x45\xdf\xa3\x81", (0x1A45DFA3, 1, 5)),
        (b"\xa3\x01\x00\x00\x00\x00\x00\x01\x00", (0xA3, 256, 9)),
        (b"\xa3\xff", (0xA3, UNKNOWN_SIZE, 2)),
        (b"\xa3\x7f\xff", (0xA3, UNKNOWN_SIZE, 3)),
        (b"\xa3\x7f\xfe", (0xA3, 0x3FFE, 3)),
        (b"\xa3\x40", None),
        (b"\xa3", None),
        (b"\xa3\x00", None),
        (b"\x00\x81", None),
        # The id of an element has at most four bytes.
        (b"\x08\x00\x00\x00\x01\x81", None),
        (b"", None),
    ],
)
def test_the_head_of_an_element_states_its_id_and_size(head, found):
    assert ebml_element(head) == found
