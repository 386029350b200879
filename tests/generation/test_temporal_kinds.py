"""Order, direction, binding and negation: the foils of a caption, and captions whose foil may be true or is absurd."""

import re

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
    ("negation", "A man with no hat waves at a dog.", "A man with a hat waves at a dog."),
    ("negation", "A man wearing a hat waves.", "A man wearing no hat waves."),
    ("negation", "A girl without any shoes runs.", "A girl with shoes runs."),
    ("negation", "A girl with shoes runs.", "A girl without shoes runs."),
    ("event_order", "A man sneezes and then opens the door.", "A man opens the door and then sneezes."),
    ("event_order", "A cat appears. Then the man sits down.", "The man sits down. Then a cat appears."),
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
        "A man appears and then sits down.",
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
        "The ball falls downwards.",
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
        "A dog runs in the foreground with mountains in the background.",
    ),
    "negation": (
        "A boy starts running.",
        "A woman catches a ball.",
        "A man with a hat waves at a man.",
        "A man puts on a hat and runs with a hat.",
        "A man with a hat in his hand runs.",
        "A woman wearing a jacket with a zipper runs.",
        "A crowd with hats waves.",
        "The cat fails to catch the ball.",
        "A man in a red shirt and jeans runs.",
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


def test_a_man_loses_his_shirt_or_gets_one_of_a_random_colour() -> None:
    lost = {drafts("negation", f"A {age} man in a red shirt runs.")[0].foil for age in ("young", "tall", "thin", "old")}
    assert all(
        "red" not in foil and ("no shirt" in foil or "out a shirt" in foil or "shirtless" in foil) for foil in lost
    )
    got = [drafts("negation", f"A {start}shirtless man runs.")[0].foil for start in ("", "tall ")]
    assert all(re.fullmatch(r"A (tall )?man (in|wearing) a \w+ shirt runs\.", foil) for foil in got)
    assert skipped("negation", "A shirtless man in jeans runs.")


def test_the_filter_lets_a_foil_take_not_away_and_no_other_word_of_a_denied_clause() -> None:
    caption = "A dog that is not on a leash runs."
    assert asserted.judge(CaptionInput("1", caption), "A dog that is on a leash runs.", others=(), params={}).passed
    other = "A dog that is not on a chain runs."
    assert why_unasserted(caption, diff_edits(caption, other))
    outcome = "The cat fails to catch the ball."
    assert not why_unasserted(outcome, diff_edits(outcome, "The cat manages to catch the ball."))
    assert why_unasserted(outcome, diff_edits(outcome, "The cat fails to catch the mouse."))
