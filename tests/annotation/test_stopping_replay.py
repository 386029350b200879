"""Votes saved on a slice of published votes and in simulated crowds, at equal error."""

import numpy as np
import pytest

from annotation.rules.voting import VoteRule
from tests.annotation.stopping_replay import FULL_SHARE, RULES, Crowd, replay, simulate, skilled_last

# Votes for caption, foil and other of the first items of ViLMA's change of state, action (published votes).
SLICE = [(2, 1, 0), (3, 0, 0), (3, 0, 0), (1, 2, 0), (2, 0, 1), (1, 1, 1), (0, 3, 0), (3, 0, 0), (2, 1, 0), (1, 0, 2)]


def test_the_slice_saves_what_arithmetic_says_and_changes_no_verdict():
    """Of the orders of a pair, all with 3 equal votes save one, and a third of those with 2."""
    found = replay(SLICE, VoteRule(3, 2, stop_early=True), share=0.0)
    assert found["changed"] == 0
    assert found["saved"] == pytest.approx((4 / 3 + 5 / 9) / 10)
    low, high = found["ci"]
    assert low < found["saved"] < high
    with_share = replay(SLICE, RULES["3 votes, stop"])
    assert with_share["saved"] == pytest.approx((1 - FULL_SHARE) * found["saved"])


@pytest.mark.parametrize(("usual", "stopping"), [("3 votes", "3 votes, stop"), ("5 votes", "5 votes, stop")])
def test_stopping_saves_votes_at_the_same_error(usual, stopping):
    crowd = Crowd()
    all_votes, stopped = (simulate(crowd, RULES[name], 400, seed=5) for name in (usual, stopping))
    assert (stopped["wrong"], stopped["disputed"]) == (all_votes["wrong"], all_votes["disputed"])
    assert stopped["votes"] < 0.85 * all_votes["votes"]


def test_more_votes_for_divided_pairs_leave_fewer_disputes_at_fewer_votes_than_three():
    crowd = Crowd()
    three, more = (
        simulate(crowd, RULES[name], 400, seed=5) for name in ("3 votes", "3 votes, stop, up to 5 if divided")
    )
    assert more["disputed"] < 0.7 * three["disputed"]
    assert more["votes"] < three["votes"]


def test_the_most_skilled_give_the_votes_after_the_usual_ones():
    skill, order = np.array([0.5, 0.9, 0.7, 0.8, 0.6]), np.array([4, 0, 2, 1, 3])
    assert skilled_last(skill, order, 3).tolist() == [4, 0, 2, 1, 3]
    assert skilled_last(skill, order, 2).tolist() == [4, 0, 1, 3, 2]
