"""Reviewers' decisions and their agreement, by hand."""

import pytest

from evaluation.analyses.reviewing import ReviewFacts, compute

PAIRS = (("accept", "accept"), ("accept", "fix"), ("drop", "send_back"), ("drop", "drop"))


def test_decisions_reasons_and_reviewers_are_counted():
    first = (("rob", "accept", ()), ("rita", "drop", ("grammar", "still_true")), ("rita", "send_back", ("grammar",)))
    found = compute(ReviewFacts(first=first, unreviewed=7))
    assert (found["n_reviewed"], found["n_unreviewed"], found["n_twice"]) == (3, 7, 0)
    assert found["decisions"] == {"accept": 1, "send_back": 1, "drop": 1, "fix": 0}
    assert found["reasons"] == {"grammar": 2, "still_true": 1}
    assert [(row["person"], row["n"], row["drop"]) for row in found["people"]] == [("rita", 2, 1), ("rob", 1, 0)]


def test_agreement_over_decisions_by_hand():
    # Two of four pairs agree: P = 1/2. Shares: accept 3/8, send back 1/8, drop 3/8, fix 1/8: P_e = 20/64.
    decision = compute(ReviewFacts(pairs=PAIRS))["agreement"][0]
    assert (decision["coding"], decision["n"], decision["percent_agreement"]) == ("decision", 4, 0.5)
    assert decision["fleiss_kappa"] == pytest.approx((1 / 2 - 20 / 64) / (1 - 20 / 64))


def test_agreement_over_what_the_decisions_come_to_by_hand():
    # Three of four pairs agree. Stands 3/8, does not 5/8: P_e = 34/64. Alpha: D_o = 2, D_e = (64 - 34) / 7.
    stands = compute(ReviewFacts(pairs=PAIRS))["agreement"][1]
    assert (stands["coding"], stands["percent_agreement"]) == ("stands", 0.75)
    assert stands["fleiss_kappa"] == pytest.approx((3 / 4 - 34 / 64) / (1 - 34 / 64))
    assert stands["alpha"] == pytest.approx(1 - 2 / (30 / 7))


def test_without_a_second_review_agreement_has_no_value_and_says_why():
    assert compute(ReviewFacts())["agreement"][0]["reason"] == "no unit has two votes"


def test_the_table_shows_diverging_second_decisions():
    table = compute(ReviewFacts(pairs=PAIRS))["table"]
    assert table[0] == {"first": "accept", "accept": 1, "send_back": 0, "drop": 0, "fix": 1}
