"""Verdicts, counted by hand. A pattern such as ccf is three votes: caption, caption, foil."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules import voting
from annotation.rules.voting import ANSWERS, VoteRule, answer_of, parse_answer, truth_of
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState

LETTER = {"c": "caption", "f": "foil", "n": "neither", "b": "both", "x": "cannot_tell"}
TWO_OF_THREE = VoteRule(wanted=3, needed=2)
P, V, I, S = FoilVerdict.PENDING, FoilVerdict.VALID, FoilVerdict.INVALID, FoilVerdict.DISPUTED  # noqa: E741


def votes(pattern: str) -> Counter[str]:
    return Counter(LETTER[letter] for letter in pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ccc", V),
        ("ccf", V),
        ("ccn", V),
        ("ccx", V),
        ("cff", I),
        ("fff", I),
        ("cnn", I),
        ("bbc", I),
        ("xxx", I),
        # Neither and both are two options, not one "other": nothing has two votes here.
        ("cfn", S),
        ("cbx", S),
        ("fnb", S),
        # Two agree, but the third vote is not in: no early verdict.
        ("cc", P),
        ("ff", P),
        ("", P),
    ],
)
def test_two_of_three_decide_once_all_three_are_in(pattern, expected):
    assert voting.pair_verdict(votes(pattern), TWO_OF_THREE) == expected


@pytest.mark.parametrize(
    ("rule", "pattern", "expected"),
    [
        (VoteRule(1, 1), "c", V),
        (VoteRule(1, 1), "n", I),
        (VoteRule(5, 3), "cccff", V),
        (VoteRule(5, 3), "ccffn", S),
        (VoteRule(5, 4), "cccff", S),
        (VoteRule(5, 4), "cffff", I),
        # Half is enough: both sides have it, so nobody has decided.
        (VoteRule(4, 2), "ccff", S),
        (VoteRule(4, 2), "ccfn", V),
        (VoteRule(4, 2), "cffn", I),
    ],
)
def test_the_rule_is_the_subtests_own(rule, pattern, expected):
    assert voting.pair_verdict(votes(pattern), rule) == expected


@pytest.mark.parametrize(
    ("verdicts", "all_pairs", "enough", "expected"),
    [
        ([V], True, 1, ItemState.VALID),
        ([I], True, 1, ItemState.INVALID),
        ([S], True, 1, ItemState.DISPUTED),
        ([V, P], True, 1, ItemState.IN_VALIDATION),
        # An invalid pair decides, but not before the last votes are in.
        ([I, P], True, 1, ItemState.IN_VALIDATION),
        ([V, I], True, 1, ItemState.INVALID),
        ([V, S], True, 1, ItemState.DISPUTED),
        ([I, S], True, 1, ItemState.INVALID),
        ([V, I], False, 1, ItemState.VALID),
        ([V, I, I], False, 2, ItemState.INVALID),
        ([V, S, I], False, 2, ItemState.DISPUTED),
        ([V, V, I], False, 2, ItemState.VALID),
        ([I, I], False, 1, ItemState.INVALID),
        # More pairs asked for than there are: all of them.
        ([V], False, 3, ItemState.VALID),
        ([], True, 1, ItemState.IN_VALIDATION),
    ],
)
def test_an_item_follows_from_its_pairs(verdicts, all_pairs, enough, expected):
    assert voting.item_outcome(verdicts, VoteRule(3, 2, all_pairs, enough)) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("ccccf", V), ("ffffc", I), ("cccff", P), ("ffccc", P), ("cc", P), ("cccc", V), ("fffff", I)],
)
def test_with_few_votes_the_verdict_is_final_if_the_others_cannot_catch_up(pattern, expected):
    """Six votes, two of which are enough for a side: it is who has more that counts."""
    assert voting.pair_verdict(votes(pattern), VoteRule(6, 2, stop_early=True)) == expected


def test_unanimous_means_every_vote_on_every_pair():
    assert voting.is_unanimous([votes("ccc")])
    assert voting.is_unanimous([votes("ccc"), votes("ccc")])
    assert voting.is_unanimous([votes("c")])
    assert not voting.is_unanimous([votes("ccc"), votes("ccf")])
    assert not voting.is_unanimous([votes("ccc"), votes("")])
    assert not voting.is_unanimous([votes("f")])
    assert not voting.is_unanimous([])


@pytest.mark.parametrize(
    ("pattern", "doubt"),
    [("ffc", True), ("fnc", True), ("nnn", True), ("fcc", False), ("fbc", False), ("fc", False), ("c", False)],
)
def test_a_caption_is_in_doubt_when_most_say_foil_only_or_neither(pattern, doubt):
    assert voting.caption_in_doubt(votes(pattern)) is doubt


def test_the_numbers_one_to_five_are_the_five_options():
    assert [parse_answer(n) for n in (1, 2, 3, 4, 5)] == list(ANSWERS)
    assert [parse_answer(str(n)) for n in (1, 2, 3, 4, 5)] == list(ANSWERS)
    assert [parse_answer(name) for name in ANSWERS] == list(ANSWERS)
    assert [parse_answer(bad) for bad in (0, 6, "", "caption", "foil", True, None, 1.0, [1], "１")] == [None] * 10


def test_only_the_order_shown_distinguishes_first_and_second():
    assert truth_of("first", caption_first=True) == truth_of("second", caption_first=False) == "caption"
    assert truth_of("second", caption_first=True) == truth_of("first", caption_first=False) == "foil"
    for answer, order in product(("neither", "both", "cannot_tell"), (True, False)):
        assert truth_of(answer, order) == answer


@given(st.lists(st.sampled_from(sorted(LETTER.values())), max_size=7), st.integers(1, 7), st.integers(1, 7))
def test_a_verdict_does_not_depend_on_the_order_of_votes_and_more_captions_never_hurt(choices, wanted, needed):
    rule = VoteRule(wanted, min(needed, wanted))
    verdict = voting.pair_verdict(Counter(choices), rule)
    assert verdict == voting.pair_verdict(Counter(reversed(choices)), rule)
    assert (verdict == P) == (len(choices) < wanted)
    if verdict == V:
        others = [choice for choice in choices if choice != "caption"]
        for changed in others[:1]:
            better = Counter(choices) - Counter([changed]) + Counter(["caption"])
            assert voting.pair_verdict(better, rule) == V


@pytest.mark.parametrize("caption_first", [True, False])
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_shown_as_given(answer, caption_first):
    assert answer_of(truth_of(answer, caption_first), caption_first) == answer
