"""Order, direction, binding and negation: the foils of a caption, and captions whose foil may be true or is absurd."""

import pytest

from foilworks.core.text.diff import diff_edits
from generation.errors import GenerationError
from generation.filters import asserted
from generation.grammar.assertion import why_unasserted
from generation.records import CaptionInput
from tests.generation.making import drafts, skipped

# Methods that can make several foils of a caption.
COUNTED = ("direction", "attribute_swap")
FOILS = [
    (
        "event_order",
        "The boy opens the door and then sits down.",
        "The boy sits down and then opens the door.",
    ),
    (
        "event_order",
        "A man opens the door before he turns on the light.",
        "A man opens the door after he turns on the light.",
    ),
    (
        "event_order",
        "After turning on the light, the woman sits down.",
        "Before turning on the light, the woman sits down.",
    ),
    (
        "event_order",
        "First the girl folds a shirt, then she sits down.",
        "First the girl sits down, then she folds a shirt.",
    ),
    ("event_order", "A man folds a shirt. Then he sits down.", "A man sits down. Then he folds a shirt."),
    (
        "event_order",
        "A boy sits down. Then the man in the yard throws a ball.",
        "The man in the yard throws a ball. Then a boy sits down.",
    ),
    (
        "event_order",
        "A person quickly folds a shirt and then stands up.",
        "A person stands up and then quickly folds a shirt.",
    ),
    ("direction", "The skater spins clockwise.", "The skater spins counterclockwise."),
    ("direction", "The ball rolls to the left.", "The ball rolls to the right."),
    ("direction", "A man waves with his right hand.", "A man waves with his left hand."),
    ("direction", "The camera pans up and a man waves.", "The camera pans down and a man waves."),
    ("direction", "A man walks backwards.", "A man walks forwards."),
    ("direction", "The camera zooms in.", "The camera zooms out."),
    ("direction", "A man slowly walks across the street.", "A man quickly walks across the street."),
    ("attribute_swap", "A wooden spoon lies in a metal bowl.", "A metal spoon lies in a wooden bowl."),
    ("attribute_swap", "A wet dog lies next to a dry cat.", "A dry dog lies next to a wet cat."),
    ("attribute_swap", "An old lady meets a young man.", "A young lady meets an old man."),
    ("attribute_swap", "Two women and a man dance.", "Two men and a woman dance."),
    (
        "attribute_swap",
        "The boy on the left kicks the boy on the right.",
        "The boy on the right kicks the boy on the left.",
    ),
    (
        "attribute_swap",
        "A man with black hair hugs a woman with blonde hair.",
        "A man with blonde hair hugs a woman with black hair.",
    ),
    ("attribute_swap", "A man in a suit pushes a woman in a jacket.", "A man in a jacket pushes a woman in a suit."),
    ("negation", "A dog that is not on a leash runs.", "A dog that is on a leash runs."),
    ("negation", "The cat doesn't catch the mouse.", "The cat catches the mouse."),
    ("negation", "A woman catches a ball.", "A woman does not catch a ball."),
    ("negation", "A man is wearing a hat.", "A man is not wearing a hat."),
    ("negation", "Two men answer.", "Two men do not answer."),
]
SKIPPED = {
    "event_order": (
        "A man stands on a stage.",
        "First she cuts the bread, then she spreads butter on it.",
        "A man opens the box and then sits down.",
        "A man sits down before leaving.",
        "A person sits by the door and then folds a shirt.",
        "A man waves and then sits down.",
        "A man throws a ball and then catches.",
        "A woman throws a shirt, then folds a shirt.",
        "The crowd opens the door. Then she sits down.",
        "A man is folding a shirt. Then he is closing a door.",
        "A man stands up, then folds a shirt, then sits down.",
        "A man folds a shirt while she stands up before sitting down.",
        "A man stands before the judges.",
        "Sam hugs a man and then closes his door.",
    ),
    "direction": (
        "The man left the room.",
        "All right, he says.",
        "He walks up to her.",
        "A boy wears his cap backwards.",
        "She holds a cup in her left hand and a spoon in her right hand.",
        "The man looks down.",
        "Sam quickly adds that he is late.",
        "She listens quietly.",
        "A man is in front of the second boy on the left.",
        "He runs as quickly as a horse.",
        "A car suddenly and quickly stops.",
        "The man does not turn left.",
    ),
    "attribute_swap": (
        "A tall man pushes a small cart.",
        "A big dog chases a big cat.",
        "A boy on the left touches a boy on the right.",
        "A car drives from left to right.",
        "An old man waves.",
        "One small dog chases another big dog.",
        "A large crowd stands in a small room.",
        "A rubber tire lies on a wooden log.",
    ),
    "negation": (
        "A boy starts running.",
        "The dog falls again.",
        "A man jumps.",
        "She tells him that he is not late.",
        "He does not open the box and puts it back.",
        "A man who wears a hat catches a ball and runs.",
        "A cup is shown.",
        "We do not see anything.",
    ),
}


@pytest.mark.parametrize(("slug", "caption", "foil"), FOILS)
def test_a_caption_gets_this_foil(slug: str, caption: str, foil: str) -> None:
    options = {"foils": 3} if slug in COUNTED else {}
    assert drafts(slug, caption, **options)[0].foil == foil


@pytest.mark.parametrize(("slug", "caption"), [(slug, text) for slug, texts in SKIPPED.items() for text in texts])
def test_a_caption_whose_foil_may_be_true_or_absurd_is_skipped(slug: str, caption: str) -> None:
    assert skipped(slug, caption)


@pytest.mark.parametrize("slug", COUNTED)
def test_foils_below_one_are_refused(slug: str) -> None:
    with pytest.raises(GenerationError, match="'foils' is 0"):
        drafts(slug, "The boy runs.", foils=0)


def test_several_foils_of_a_caption_change_different_words() -> None:
    made = drafts("direction", "The camera pans left and a man slowly waves.", foils=5)
    assert [draft.facts["to"] for draft in made] == ["right", "quickly", "rapidly", "swiftly"]


def test_the_filter_lets_a_foil_take_not_away_and_no_other_word_of_a_denied_clause() -> None:
    caption = "A dog that is not on a leash runs."
    assert asserted.judge(CaptionInput("1", caption), "A dog that is on a leash runs.", others=(), params={}).passed
    other = "A dog that is not on a chain runs."
    assert why_unasserted(caption, diff_edits(caption, other))
