"""Items of two clips: which two records are one, which of them is clip 0, and what does not fit."""

import pytest

from foilworks.core.corpus.rules.two_clips import (
    Half,
    clip_order,
    connected,
    fault,
    half_of,
    mismatch,
    pairs_of,
    two_of_each,
    whole_pairs,
)


def record(name: str, clip: str, caption: str, foil: str, pair: str | None = "p", subtest: str = "s") -> dict:
    return {
        "id": name,
        "pair": pair,
        "subtest": subtest,
        "video": {"key": clip},
        "caption": caption,
        "foils": [foil],
    }


ONE, OTHER = record("b", "v1", "up", "down"), record("a", "v2", "down", "up")


def test_a_record_with_a_pair_name_is_a_half():
    assert half_of(ONE) == Half(("s", "p"), "v1", "up", ("down",))
    assert half_of({**ONE, "pair": ""}) is None
    assert half_of({"id": "b"}) is None


def test_half_of_a_pair_has_one_foil():
    assert fault(Half("p", "v", "up", ("down",))) == ""
    assert fault(Half("p", "v", "up", ("down", "in"))) == "needs exactly one foil, not 2"
    assert fault(Half("p", "v", "up", ())) == "needs exactly one foil, not 0"


def test_the_caption_of_each_half_is_the_foil_of_the_other():
    one, other = Half("p", "v1", "up", ("down",)), Half("p", "v2", "down", ("up",))
    differs = "has two items of which the caption of one is not the foil of the other"
    assert mismatch(one, other) == ""
    assert mismatch(one, Half("p", "v1", "down", ("up",))) == "has two items of the same clip"
    assert mismatch(one, Half("p", "v2", "down", ("in",))) == differs
    assert mismatch(one, Half("p", "v2", "in", ("up",))) == differs


def test_the_pairs_of_frozen_records_are_those_with_both_halves():
    alone = record("c", "v3", "in", "out", pair="q")
    unfit = [record("d", "v4", "on", "off", pair="r"), record("e", "v5", "off", "in", pair="r")]
    # The same name in another subtest is another pair.
    elsewhere = record("f", "v6", "up", "down", subtest="t")
    records = [ONE, alone, *unfit, elsewhere, record("g", "v7", "up", "down", pair=None), OTHER]
    assert whole_pairs(records) == [(6, 0)]
    assert pairs_of(records) == [("p", "a", "b")]
    assert pairs_of([alone]) == []


def test_clip_0_has_the_first_id_or_is_not_the_negative_one():
    assert clip_order("1_neg") == (True, "1_neg")
    assert two_of_each(["p", None, "p", "q", "q", "q"], ["a_neg", "x", "b", "c", "d", "e"]) == [(2, 0)]
    assert two_of_each(["p", "p"], ["b", "a"]) == [(1, 0)]


@pytest.mark.parametrize(
    ("sources", "groups"),
    [
        ([("a", "b"), ("c", "d")], [0, 1]),
        ([("a", "b"), ("b", "c"), ("d", "e")], [0, 0, 1]),
        ([("a", "b"), ("c", "d"), ("d", "a"), ("x", "x")], [0, 0, 0, 1]),
        ([("a", "b"), ("c", "d"), ("e", "f"), ("b", "f")], [0, 1, 0, 0]),
    ],
)
def test_pairs_that_share_a_source_have_one_cluster(sources, groups):
    found = connected(sources)
    assert [list(dict.fromkeys(found)).index(name) for name in found] == groups
