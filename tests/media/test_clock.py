"""One clock per clip: what is stored is exact, and a trim means the same frames for everybody."""

import base64
import re
import zlib
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.media.clock import Clock, ClockError, even_clock, unpacked
from foilworks.core.media.packets import _overlap, _tagged_end

GAPS = st.lists(st.integers(1, 10**9), min_size=1, max_size=60)
SLIDES = Clock((0, 1_000_000, 2_000_000), 20_000_000)


@given(GAPS, st.integers(0, 10**8), st.integers(0, 10**8))
def test_a_packed_clock_is_unpacked_unchanged(gaps, first, offset):
    edges = np.cumsum([first, *gaps]).tolist()
    clock = Clock(tuple(edges[:-1]), edges[-1], offset)
    assert unpacked(clock.packed()) == clock


def test_a_constant_rate_takes_little_room_whatever_its_length():
    assert len(even_clock(75, 25).packed()) < 80
    assert len(even_clock(54_000, 30_000 / 1001).packed()) < 3_000


@pytest.mark.parametrize(
    "text",
    ["", "no base64!", base64.b64encode(b"no zlib").decode(),
     base64.b64encode(zlib.compress(np.array([2.0, 0, 0, 1]).tobytes())).decode()],
)  # fmt: skip
def test_another_text_is_not_a_clock(text):
    with pytest.raises(ClockError, match=r"^no clock"):
        unpacked(text)


def test_the_message_names_the_first_forty_characters_of_the_text():
    with pytest.raises(ClockError, match=r"^no clock: '!{40}'$"):
        unpacked("!" * 50)
    other = base64.b64encode(zlib.compress(np.array([9.0, *range(60)]).tobytes(), 9)).decode()
    with pytest.raises(ClockError, match=rf"^no clock of version 1: '{re.escape(other[:40])}'$"):
        unpacked(other)


def test_a_clock_has_a_frame_and_an_end_behind_it():
    for starts, end in (((), 5), ((0, 7), 7)):
        with pytest.raises(ClockError, match="needs a frame"):
            Clock(starts, end)


def test_frames_and_seconds_of_a_variable_rate():
    assert [SLIDES.frame_at(second) for second in (0, 0.999, 1.0, 1.9999996, 2.5, 19.9, 25)] == [0, 0, 1, 2, 2, 2, 2]
    assert [SLIDES.seconds(number) for number in (0, 1, 2, 2.5, 3)] == [0, 1, 2, 11, 20]
    late = Clock((1_500_000, 1_600_000), 1_700_000)
    assert late.frame_at(0.2) == 0
    assert late.seconds(0) == 1.5


@pytest.mark.parametrize(
    ("clock", "trim", "frames"),
    [
        (even_clock(40, 10), (None, None), (0, 39)),
        (even_clock(40, 10), (1.0, 2.0), (10, 19)),
        (even_clock(40, 10), (1.04, 2.06), (10, 20)),
        (even_clock(40, 10), (1.06, 2.04), (11, 19)),
        (even_clock(40, 10), (1.01, 1.02), (10, 10)),
        # Half of a frame counts, less half of a millisecond.
        (even_clock(40, 10), (1.0505, 2.0), (10, 19)),
        (even_clock(40, 10), (1.0506, 2.0), (11, 19)),
        # In a trim of 1.6 ms the tolerance is a quarter of it: 0.4 ms, of a frame of 2.4 ms.
        (Clock((0, 2_400, 4_800), 7_200), (0.0016, 0.0032), (0, 1)),
        (Clock((0, 2_400, 4_800), 7_200), (0.0017, 0.0033), (1, 1)),
        (even_clock(40, 10), (3.0, 99.0), (30, 39)),
        # 1.8333333 s is where frame 44 of 24 a second begins: no rounding loses it.
        (even_clock(48, 24), (1.833333, 2.0), (44, 47)),
        # A slide that is on screen for 18 seconds belongs to a trim within them.
        (SLIDES, (5.0, 15.0), (2, 2)),
        (SLIDES, (0.95, 15.0), (1, 2)),
        (SLIDES, (0.85, 15.0), (0, 2)),
        # Nothing begins there; the first frame is what a player shows.
        (Clock((1_500_000, 1_600_000), 1_700_000), (0.0, 1.0), (0, 0)),
    ],
)
def test_the_frames_of_a_trim(clock, trim, frames):
    assert clock.frames_within(*trim) == frames


@given(st.integers(1, 200), st.floats(1, 120), st.floats(0, 1), st.floats(0, 1))
def test_a_trim_shows_frames_that_are_on_screen_in_it(n, fps, one, other):
    clock = even_clock(n, fps)
    start, end = sorted((one * n / fps, other * n / fps))
    first, last = clock.frames_within(start, end)
    assert 0 <= first <= last < n
    if end - start > 0.001:
        assert clock.seconds(first) < end
        assert clock.seconds(last + 1) > start


def test_a_stated_duration_that_hides_the_next_frame_is_noticed():
    """At 8 frames per second as stated and 30 in truth, Chromium keeps the frame before the one that was sought."""
    starts = tuple(index / 30 for index in range(16))
    assert _overlap(starts, [0.125] * 16)
    assert not _overlap(starts, [1 / 30] * 16)
    assert not _overlap(starts, [0.0] * 16)
    assert _overlap((0.0, 0.04, 0.08, 1.08, 2.08), [0.0] * 5)
    assert not _overlap((0.0,), [0.0])


@pytest.mark.parametrize(
    ("metadata", "second"),
    [
        ({"DURATION": "01:02:03.500000000"}, 3723.25),
        ({"DURATION": "00:00:07"}, 6.75),
        ({"DURATION": "7 s"}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_end_of_a_tag_counts_from_the_first_picture_or_sound(metadata, second):
    video = SimpleNamespace(stream=SimpleNamespace(metadata=metadata), origin=Fraction(1, 4))
    assert _tagged_end(video) == second
