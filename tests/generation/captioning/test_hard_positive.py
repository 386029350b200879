"""Hard positives: reworded, still true, and named as what they are."""

import pytest

from foilworks.core.text.registry import parse_params
from generation.captioning.hard_positive import SAME, make
from generation.captioning.registry import CAPTIONERS
from generation.records import CaptionInput, Skip


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
def test_one_word_is_replaced_by_a_synonym(text, reworded):
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
def test_words_in_compounds_or_with_several_meanings_are_not_replaced(text):
    (skip,) = made(text)
    assert isinstance(skip, Skip)


def test_a_hard_positive_names_its_source_and_keeps_true_facts():
    (found,) = made("a child jumps exactly three times", facts={"count": 3, "template": "x"})
    assert found.facts["paraphrase_of"] == "0"
    assert found.facts["replaced"] in (["child", "kid"], ["jumps", "leaps"])
    assert found.facts["count"] == 3
    assert "template" not in found.facts


def test_distinct_rewordings_are_drawn_with_the_seed():
    text = "a child shuts the big box beside the couch"
    assert len(made(text, each=3)) == 3
    assert len({one.text for one in made(text, each=20)}) == 5
    assert len({made(text, seed=seed)[0].text for seed in range(20)}) > 1
    assert made(text, seed=4) == made(text, seed=4)


def test_a_caption_without_such_a_word_is_skipped_with_the_reason():
    (skip,) = made("someone peels an orange")
    assert isinstance(skip, Skip)
    assert "none of its words" in skip.why


def test_the_list_is_symmetric_and_no_word_is_in_two_sets():
    for rows in SAME.values():
        words = [word for row in rows for word in row]
        assert len(words) == len(set(words))
