import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.media.ranges import ByteRange, UnsatisfiableRangeError, iter_bytes, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", ByteRange(0, 99)),
        ("bytes=0-0", ByteRange(0, 0)),
        ("bytes=10-19", ByteRange(10, 19)),
        ("bytes=10-1000", ByteRange(10, 99)),
        ("bytes=-1", ByteRange(99, 99)),
        ("bytes=-1000", ByteRange(0, 99)),
        (" Bytes = 5 - 6 ", ByteRange(5, 6)),
    ],
)
def test_one_range_is_read(header, expected):
    assert parse_range(header, 100) == expected


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes=-",
        "bytes=9-3",
        "bytes=a-b",
        "items=0-1",
        "bytes=0-1,5-6",
        "bytes",
        "bytes=" + "9" * 5000 + "-",
    ],
)
def test_other_ranges_are_answered_with_the_whole_file(header):
    assert parse_range(header, 100) is None


@pytest.mark.parametrize(("header", "size"), [("bytes=100-", 100), ("bytes=-0", 100), ("bytes=0-", 0), ("bytes=-5", 0)])
def test_bytes_that_are_not_there_are_unsatisfiable(header, size):
    with pytest.raises(UnsatisfiableRangeError) as caught:
        parse_range(header, size)
    assert caught.value.content_range == f"bytes */{size}"
    assert str(caught.value) == f"no such bytes in a file of {size}"


def test_the_answer_says_what_part_it_is():
    assert ByteRange(10, 19).content_range(100) == "bytes 10-19/100"
    assert ByteRange(10, 19).length == 10


@given(st.binary(min_size=1, max_size=300), st.data(), st.integers(1, 50))
def test_the_bytes_are_those_of_the_file(content, data, chunk):
    start = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.integers(start, len(content) - 1))
    file = io.BytesIO(content)
    blocks = list(iter_bytes(file, ByteRange(start, end), chunk))
    assert b"".join(blocks) == content[start : end + 1]
    assert max(map(len, blocks)) <= chunk
    assert file.closed


def test_a_file_that_shrank_meanwhile_ends_the_answer():
    assert b"".join(iter_bytes(io.BytesIO(b"abc"), ByteRange(1, 9))) == b"bc"


def test_a_reader_that_goes_away_leaves_no_open_file():
    file = io.BytesIO(b"x" * 100)
    blocks = iter_bytes(file, ByteRange(0, 99), 10)
    next(blocks)
    blocks.close()
    assert file.closed


@given(st.text(max_size=40), st.integers(0, 10**6))
def test_no_header_breaks_the_parser(header, size):
    try:
        wanted = parse_range(header, size)
    except UnsatisfiableRangeError:
        return
    assert wanted is None or 0 <= wanted.start <= wanted.end < size
