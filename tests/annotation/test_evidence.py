import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.watch_evidence import seconds_spent, shown_seconds, watch_evidence


def test_sane_evidence_is_kept_as_numbers():
    assert watch_evidence({"seconds": 4.5, "loops": 2, "covered": 0.75}) == {
        "seconds": 4.5,
        "loops": 2.0,
        "covered": 0.75,
    }


def test_numbers_beyond_their_range_are_cut_and_anything_else_is_left_out():
    sent = {"seconds": 1e12, "loops": -1, "covered": 3, "name": "x"}
    assert watch_evidence(sent) == {"seconds": 86_400.0, "covered": 1.0}
    assert watch_evidence({"seconds": float("nan"), "loops": "2", "covered": True}) == {}
    assert [watch_evidence(bad) for bad in (None, [], "x", 3)] == [{}, {}, {}, {}]


def test_time_spent_is_seconds_of_at_most_a_day():
    assert [seconds_spent(sent) for sent in (12, 0.5, 1e9, -1, "12", None, float("inf"))] == [
        12.0,
        0.5,
        86_400.0,
        None,
        None,
        None,
        None,
    ]


def test_time_spent_is_at_most_what_passed():
    assert [seconds_spent(12, most) for most in (30.0, 5.0, 0.25, 0.0, -2.0)] == [12.0, 5.0, 0.25, 0.0, 0.0]


@pytest.mark.parametrize(
    ("start", "end", "unit", "duration", "shown"),
    [
        (10.0, 15.0, "sec", 300.0, 5.0),
        (None, 15.0, "sec", None, 15.0),
        (10.0, None, "sec", 300.0, 290.0),
        (None, None, "sec", 300.0, 300.0),
        (900.0, 1500.0, "pts", 300.0, 300.0),
        (10.0, None, "sec", None, None),
        (10.0, 10.0, "sec", 300.0, 300.0),
    ],
)
def test_a_clip_is_as_long_as_the_trim_that_is_shown(start, end, unit, duration, shown):
    assert shown_seconds(start, end, unit, duration) == shown


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3), lambda x: st.lists(x, max_size=2)
)


@given(st.dictionaries(st.sampled_from(["seconds", "loops", "covered", "other"]), anything))
def test_whatever_a_browser_sends_only_numbers_in_range_are_stored(sent):
    kept = watch_evidence(sent)
    assert set(kept) <= {"seconds", "loops", "covered"}
    assert all(isinstance(value, float) and 0 <= value <= 86_400 for value in kept.values())


def test_nothing_at_all_is_a_number_too():
    assert seconds_spent(0) == 0.0
    assert watch_evidence({"seconds": 0, "loops": 0, "covered": 0.0}) == {"seconds": 0.0, "loops": 0.0, "covered": 0.0}
