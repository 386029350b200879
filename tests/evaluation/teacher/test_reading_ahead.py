"""Frames are read ahead in the order of the steps, a few steps at most, and errors keep their step."""

from threading import Event

import numpy as np
import pytest

from foilworks.site.teacher.ranks import Alone
from foilworks.site.teacher.training import read_ahead
from tests.waiting import PATIENCE_SECONDS

STEPS = [(at, np.array([2 * at, 2 * at + 1])) for at in range(6)]


class Reader:
    """A student that has nothing but a reader."""

    def __init__(self, broken=None):
        self.asked, self.broken, self.read = [], broken, self._read
        self.reached = {place: Event() for place in range(12)}

    def _read(self, place):
        self.asked.append(place)
        self.reached[place].set()
        if place == self.broken:
            raise ValueError(f"clip {place} cannot be decoded")
        return f"frames of {place}"


def test_steps_find_their_frames_read_and_no_more_than_the_depth_is_read():
    student = Reader()
    own = student.read
    with read_ahead(student, iter(STEPS), 2, Alone()) as steps:
        for step, rows in steps:
            assert [student.read(place) for place in rows.tolist()] == [f"frames of {place}" for place in rows]
            # The last clip of two steps ahead is read without a request; nothing further is.
            assert student.reached[min(11, 2 * step + 5)].wait(PATIENCE_SECONDS)
            assert max(student.asked) == min(11, 2 * step + 5)
    assert student.asked == list(range(12))
    assert student.read == own


def test_an_error_is_raised_at_the_step_that_needs_the_clip():
    student, begun = Reader(broken=5), []
    with (
        pytest.raises(ValueError, match="clip 5 cannot be decoded"),
        read_ahead(student, iter(STEPS), 3, Alone()) as steps,
    ):
        for step, _ in steps:
            begun.append(step)
    assert begun == [0, 1]


class SecondOfTwo(Alone):
    rank, size = 1, 2


def test_a_process_reads_its_share_only():
    student = Reader()
    with read_ahead(student, iter(STEPS), 1, SecondOfTwo()) as steps:
        assert [step for step, _ in steps] == list(range(6))
    assert student.asked == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("depth", [0, 2])
def test_without_a_reader_or_depth_nothing_is_read_ahead(depth):
    student = Reader()
    if depth:
        student.read = None
    with read_ahead(student, iter(STEPS), depth, Alone()) as steps:
        assert [step for step, _ in steps] == list(range(6))
    assert student.asked == []
