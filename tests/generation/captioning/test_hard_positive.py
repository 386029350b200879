"""Hard positives: reworded, still true, and named as what they are."""

import pytest

from generation.captioning.hard_positive import SAME, make
from generation.captioning.registry import CAPTIONERS
from generation.records import CaptionInput, Skip
from text.registry import parse_params


def made(*texts, seed=0, facts=None, **given):
    params = parse_params(CAPTIONERS["hard_positive"], {"tagger": "offline", **given})
    sources = [CaptionInput(str(n), text, facts=facts or {}) for n, text in enumerate(texts)]
    return list(make(sources, params=params, mode="corrected", seed=seed))


@pytest.mark.parametrize(
    ("text", "reworded"),
    [
        ("a dog sleeps beside the table", "a dog sleeps next to the table"),
        ("a man drives a car", "a man drives an automobile"),
        ("A child claps.", "A kid claps."),
        ("someone rides a bicycle", "someone rides a bike"),
        ("someone climbs a rock", "someone climbs a stone"),
        ("a woman is shutting the door", "a woman is closing the door"),
    ],
)
def test_one_word_is_exchanged_for_one_that_means_the_same(text, reworded):
    (found,) = made(text)
    assert found.text == reworded


@pytest.mark.parametrize(
    "text",
    [
        "A rock band plays on a stage.",
        "A cable car moves up a mountain.",
        "A man rides a dirt bike.",
        "a dog waits in a car park",
        "a person rock climbing",
        "a man rides a bike on a race track",
        "a man draws a sword",
        "a plate on a round table",
        "someone starts an engine",
    ],
)
def test_a_word_of_a_compound_or_of_several_meanings_is_no_other(text):
    (skip,) = made(text)
    assert isinstance(skip, Skip)


def test_it_says_what_it_is_a_paraphrase_of_and_keeps_what_stays_true():
    (found,) = made("a child jumps exactly three times", facts={"count": 3, "template": "x"})
    assert found.facts["paraphrase_of"] == "0"
    assert found.facts["replaced"] in (["child", "kid"], ["jumps", "leaps"])
    assert found.facts["count"] == 3
    assert "template" not in found.facts


def test_as_many_as_asked_for_each_once_and_the_seed_draws():
    text = "a child shuts the big box beside the couch"
    assert len(made(text, each=3)) == 3
    assert len({one.text for one in made(text, each=20)}) == 5
    assert len({made(text, seed=seed)[0].text for seed in range(20)}) > 1
    assert made(text, seed=4) == made(text, seed=4)


def test_a_caption_without_such_a_word_is_skipped_with_the_reason():
    (skip,) = made("someone peels an orange")
    assert isinstance(skip, Skip)
    assert "no word of it" in skip.why


def test_the_list_is_symmetric_and_no_word_stands_in_two_sets():
    for rows in SAME.values():
        words = [word for row in rows for word in row]
        assert len(words) == len(set(words))
