"""What the demo says of its scenes: true by construction, and its opposites are false."""

from hypothesis import given
from hypothesis import strategies as st

from foilworks.site.demo import plan
from foilworks.site.demo.captions import (
    COLOURS,
    COUNTS,
    MIRRORED,
    MOTIONS,
    NEXT_SHAPE,
    ONE_WAY,
    OPPOSITES,
    SHAPES,
    Facts,
    careless,
    counting_caption,
    direction_caption,
    is_true,
    mirrored_caption,
    object_caption,
    reversed_caption,
)

FACTS = st.builds(Facts, st.sampled_from(SHAPES), st.sampled_from(COLOURS), st.sampled_from(MOTIONS), st.booleans())


def test_opposites_come_in_pairs() -> None:
    assert all(OPPOSITES[OPPOSITES[phrase]] == phrase for phrase in OPPOSITES)
    assert all(MIRRORED[phrase] == OPPOSITES[phrase] for phrase in MIRRORED)


def test_sentences_as_people_read_them() -> None:
    facts = Facts("ring", "blue", "circling", reverse=True)
    assert direction_caption(facts) == "a blue ring goes around the middle anticlockwise"
    assert reversed_caption(direction_caption(facts)) == "a blue ring goes around the middle clockwise"
    assert mirrored_caption(direction_caption(facts)) == "a blue ring goes around the middle clockwise"
    assert object_caption(facts) == "there is a blue ring in the video"
    assert counting_caption(Facts("star", "red", "blinking", times=3)) == "a red star blinks exactly three times"
    assert mirrored_caption("a red star fades into view") == "a red star fades into view"


@given(FACTS)
def test_the_reversal_says_the_opposite_and_twice_is_back(facts: Facts) -> None:
    caption = direction_caption(facts)
    assert reversed_caption(caption) == direction_caption(
        Facts(facts.shape, facts.colour, facts.motion, not facts.reverse)
    )
    assert reversed_caption(reversed_caption(caption)) == caption
    assert mirrored_caption(mirrored_caption(caption)) == caption


@given(FACTS)
def test_a_careless_foil_is_another_text_and_still_true(facts: Facts) -> None:
    for caption in (direction_caption(facts), object_caption(facts)):
        assert careless(caption) != caption
        assert is_true(careless(caption), caption)


@given(FACTS)
def test_true_foils_are_distinguished_from_false_ones(facts: Facts) -> None:
    caption, thing = direction_caption(facts), object_caption(facts)
    assert not is_true(reversed_caption(caption), caption)
    assert not is_true(thing.replace(facts.shape, NEXT_SHAPE[facts.shape]), thing)


def test_the_methods_get_every_opposite_and_every_shape_once() -> None:
    pairs = [pair.split(":") for pair in plan.direction_pairs().split(",")]
    assert {phrase for pair in pairs for phrase in pair} == set(OPPOSITES)
    assert len(pairs) == len(ONE_WAY)
    swaps = dict(swap.split(":") for swap in plan.object_lexicon().split(","))
    assert set(swaps) == set(swaps.values()) == set(SHAPES)


def test_counts_are_within_what_blinks() -> None:
    assert set(COUNTS) == {2, 3, 4, 5}
