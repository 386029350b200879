"""The two gaps of adversarial refinement, on fakes whose scores follow from the letters."""

import pytest

from foilworks.core.hub.adapters.fake import FakeScorer
from foilworks.core.text.registry import parse_params
from generation.filters import grammar_gap, plausibility_gap
from generation.filters.registry import FILTERS
from generation.pair_measures import judged
from generation.records import CaptionInput, Case

CAPTION = CaptionInput("1", "a man folds a shirt")
FOILS = ("a man tears a shirt", "a man unfolds a shirt")


def gaps(module, slug, **given):
    params = parse_params(FILTERS[slug], given)
    return judged(module, [Case(CAPTION, foil) for foil in FOILS], params=params)


def test_plausibility_is_the_difference_of_mean_log_likelihoods_and_drops_nothing_by_default():
    caption, *foils = (score.value for score in FakeScorer().score(None, [CAPTION.text, *FOILS]))
    found = gaps(plausibility_gap, "plausibility_gap", model="fake:text")
    assert [one.score for one in found] == pytest.approx([caption - foil for foil in foils])
    assert all(one.passed for one in found)


def test_a_limit_can_be_set():
    found = gaps(plausibility_gap, "plausibility_gap", model="fake:text")
    between = sum(one.score for one in found) / 2
    narrowed = gaps(plausibility_gap, "plausibility_gap", model="fake:text", max=between)
    assert sorted(one.passed for one in narrowed) == [False, True]


def test_grammar_is_a_difference_of_probabilities():
    found = gaps(grammar_gap, "grammar_gap", model="fake-classifier:cola")
    assert all(-1 <= one.score <= 1 and one.passed for one in found)
    assert found[0].score != found[1].score
    (same,) = judged(
        grammar_gap,
        [Case(CAPTION, CAPTION.text)],
        params=parse_params(FILTERS["grammar_gap"], {"model": "fake-classifier:cola"}),
    )
    assert same.score == 0
