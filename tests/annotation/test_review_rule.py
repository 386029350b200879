"""Reasons of reviewers, as reports count them."""

from annotation.rules.ordering import seeded_share
from annotation.rules.reviewing import REASONS, drawn_for_a_second, drawn_for_review, in_table_order, unknown_reasons


def test_reasons_are_counted_once_each_and_in_one_order():
    assert in_table_order(["other", "grammar", "other", "nonsense"]) == ["grammar", "other"]
    assert in_table_order(iter(REASONS[::-1])) == list(REASONS)


def test_an_unknown_reason_is_named():
    assert unknown_reasons(["grammar", "nonsense", "", "other"]) == ["nonsense", ""]


def test_a_share_of_none_draws_nothing_and_of_all_everything():
    for drawn, what in ((drawn_for_review, "reviewed"), (drawn_for_a_second, "reviewed twice")):
        assert not any(drawn(3, candidate, 0.0) for candidate in range(50))
        assert all(drawn(3, candidate, 1.0) for candidate in range(50))
        assert not drawn(3, 7, seeded_share(3, what, 7))
