import pytest

from generation.errors import GenerationError
from generation.methods.lexicon_swap import _any_swaps
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, skipped

LEXICON = "circle:square,square:triangle,triangle:octagon,red car:blue van"


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a red circle moves.", ["a red square moves."]),
        # Never a second square: a replacement that the caption has already is left out.
        ("a circle and a square", ["a circle and a triangle"]),
        ("a circle and Squares", []),
        ("A Circle spins", ["A Square spins"]),
        ("A CIRCLE SPINS", ["A SQUARE SPINS"]),
        # The article follows the sound.
        ("a triangle.", ["an octagon."]),
        ("There is A TRIANGLE", ["There is AN OCTAGON"]),
        ("Triangle", ["Octagon"]),
        # Phrases win over words, whole words only.
        ("a red  car", ["a blue van"]),
        ("circles, semi-circle, circle's, circleé", []),
        ("circle" + "\u0301", []),
        ("«circle» (circle)", ["«square» (circle)", "«circle» (square)"]),
    ],
)
def test_a_lexicon_swaps_its_words(caption, expected):
    assert [draft.foil for draft in drafts("fake", caption, foils=5, lexicon=LEXICON)] == expected


def test_one_requested_foil_swaps_the_first_occurrence():
    made = drafts("fake", "a circle beside a circle", lexicon=LEXICON)
    assert [draft.foil for draft in made] == ["a square beside a circle"]


def test_several_targets_are_in_random_order_and_distinct():
    made = drafts("fake", "a dog", lexicon="dog:cat|owl|ape", foils=9)
    assert sorted(draft.foil for draft in made) == ["a cat", "an ape", "an owl"]


def test_a_caption_without_a_listed_word_is_skipped():
    assert skipped("fake", "a star", lexicon=LEXICON) == "it has no word of the lexicon"
    why = "it has a word of the lexicon and its replacement"
    assert skipped("fake", "a cat and a dog", lexicon="dog:cat,cat:dog") == why


def test_without_a_lexicon_any_caption_with_a_word_gets_a_foil():
    for caption in ("a man folds a shirt", "go", "שלום world"):
        (draft,) = drafts("fake", caption)
        assert draft.foil != caption
        assert draft.source.isascii()
    assert skipped("fake", "שלום 🙂") == "it has no word to replace"


@pytest.mark.parametrize("lexicon", ["circle", "circle:", ":square", "a:a", "a:b,a:c", "a:b|"])
def test_an_invalid_lexicon_is_reported(lexicon):
    with pytest.raises(GenerationError, match="parameter 'lexicon'"):
        drafts("fake", "a circle", lexicon=lexicon)


def test_a_blank_is_neither_a_foil_nor_a_skip():
    (outcome,) = outcomes("person", [CaptionInput("1", "a man folds a shirt")])
    assert (outcome.blanks, outcome.foils, outcome.skipped) == (5, (), ())
    (outcome,) = outcomes("person", [CaptionInput("1", "a man folds a shirt")], foils=2)
    assert outcome.blanks == 2
    with pytest.raises(GenerationError, match="parameter 'foils' is -1"):
        outcomes("person", [CaptionInput("1", "x")], foils=-1)


def test_the_longer_words_are_replaced_by_nouns_that_the_caption_lacks():
    nouns = ["cat", "dog", "ape"]
    for share, span in ((0.0, (2, 6)), (0.49, (2, 6)), (0.5, (13, 18)), (0.99, (13, 18))):
        assert _any_swaps("a long is of words", nouns, share) == [(*span, noun) for noun in nouns]
    assert _any_swaps("Dog is at", nouns, 0.9) == [(7, 9, "cat"), (7, 9, "ape")]
    assert _any_swaps("7", nouns, 0.5) == []


def test_invalid_numbers_of_foils_are_refused():
    with pytest.raises(GenerationError, match=r"^parameter 'foils' is 0; give a whole number from 1$"):
        drafts("fake", "a circle", foils=0)
    with pytest.raises(GenerationError, match=r"^parameter 'foils' is -1; give a whole number from 0$"):
        outcomes("person", [CaptionInput("one", "a man")], foils=-1)
