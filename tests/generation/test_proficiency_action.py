"""Captions of actions without their count, and the foils that the four stages of counting's proficiency make."""

import pytest

from generation.captioning.action_caption import make
from generation.grammar.numbers import find_count
from generation.methods import proficiency_action
from generation.records import CaptionInput, MadeCaption, Verdict
from tests.generation.making import outcomes

ACTIONS = [
    ("a man performs exactly three push-ups.", "a man performs push-ups."),
    ("a man skips rope exactly three times.", "a man skips rope."),
    ("someone peels a melon in exactly two moves.", "someone peels a melon."),
    ("a man on a bike spins exactly two times.", "a man on a bike spins."),
    (
        "each player hits the ball exactly three times using their rackets.",
        "each player hits the ball using their rackets.",
    ),
    ("someone performs exactly one push-up", "someone performs push-ups"),
    ("she makes exactly one lateral movement on the monkey bars.", "she makes lateral movements on the monkey bars."),
    ("he throws exactly four knives.", "he throws knives."),
    ("a dog barks exactly once.", "a dog barks."),
    ("A man claps exactly 3 times!", "A man claps!"),
    ("Exactly three men jump.", "Men jump."),
    ("exactly one man walks down the street", "men walk down the street"),
    ("There are exactly two balls on the table.", "There are balls on the table."),
    ("a man skips the rope one time in total.", "a man skips the rope."),
    ("a dog barks exactly twice more.", "a dog barks."),
    ("he takes exactly one step forward.", "he takes steps forward."),
    ("exactly two children running on a beach", "children running on a beach"),
    ("🏋🏽 exactly three times — שלום", "🏋🏽 — שלום"),
    ("a woman swims exactly one swimming stroke.", "a woman swims swimming strokes."),
    ("a diver catches exactly ten fish.", "a diver catches fish."),
    ("he jumps exactly five times and claps.", "he jumps and claps."),
    ("she kicks the ball exactly seven times, then rests.", "she kicks the ball, then rests."),
    ("a kid jumps on a trampoline exactly nine times.", "a kid jumps on a trampoline."),
    ("somebody pushes a button exactly four times.", "somebody pushes a button."),
    ("a man does exactly one two-handed swing", "a man does two-handed swings"),
    ("someone cuts exactly six slices of bread.", "someone cuts slices of bread."),
    ("the man lifts weights exactly eight times in total.", "the man lifts weights."),
    ("Somebody waves exactly twice.", "Somebody waves."),
    ("a girl throws exactly two balls into a basket.", "a girl throws balls into a basket."),
    ("he does exactly one squat", "he does squats"),
    ("someone folds a paper in exactly three steps.", "someone folds a paper."),
    ("a baby claps exactly 10 times", "a baby claps"),
]


@pytest.mark.parametrize(("source", "caption"), ACTIONS)
def test_the_count_is_removed_and_the_sentence_stays(source, caption):
    (made,) = make([CaptionInput("s", source)], params={}, mode="corrected", seed=0)
    assert isinstance(made, MadeCaption)
    assert made.text == caption
    assert isinstance(find_count(made.text, "exactly"), str)


@pytest.mark.parametrize("source", ["nobody moves", "Exactly Three Times", "", "a man jumps twice over"])
def test_a_source_without_a_count_is_skipped(source):
    (made,) = make([CaptionInput("s", source)], params={}, mode="corrected", seed=0)
    assert not isinstance(made, MadeCaption)


FAKES = {
    "spans": "fake-t5:",
    "model": "fake-mask:",
    "nli": "fake-classifier:",
    "cola": "fake-classifier:cola",
    "lm": "fake-mask:",
    "min": 0.0,
}
EXERCISES = [
    CaptionInput("a", "a man performs push-ups.", "v1", facts={"category": "exercise"}),
    CaptionInput("b", "an old woman does lateral lunges", "v2", facts={"category": "exercise"}),
    CaptionInput("c", "two girls do the same exercise", "v3", facts={"category": "exercise"}),
    CaptionInput("d", "two boys swing their arms.", "v4", facts={"category": "exercise"}),
    CaptionInput("e", "a chef cuts a melon", "v5", facts={"category": "cooking"}),
]


STAGES = {"span_infill": 1, "mask_fill": 2, "proficiency_action": 3}


def stages_pass(monkeypatch, *allowed):
    """Only foils of these stages are let through, as if the models had said so."""

    def said(captions, drafts, params, *, grammar=True):
        return {
            (caption.id, draft.foil): (Verdict(STAGES[draft.method] in allowed), Verdict(True))
            for caption, made in zip(captions, drafts, strict=True)
            for draft in made
        }

    monkeypatch.setattr(proficiency_action, "verdicts_of", said)


def foils(captions=EXERCISES, **options):
    made = outcomes("proficiency_action", captions, **{**FAKES, **options})
    return {one.caption.id: [judged.draft for judged in one.foils] for one in made}


def test_first_a_verb_phrase_is_filled(monkeypatch):
    stages_pass(monkeypatch, 1, 2, 3)
    (draft,) = foils()["a"]
    assert draft.facts["stage"] == 1
    assert draft.source == "performs"
    assert draft.target in ("climbs", "jumps over", "walks", "uses")
    assert draft.method == "proficiency_action"


def test_then_the_subject_or_a_noun_is_filled(monkeypatch):
    stages_pass(monkeypatch, 2, 3)
    (draft,) = foils()["e"]
    assert draft.facts["stage"] == 2
    assert draft.facts["form"] == "NN"


def test_finally_a_caption_of_the_category_gets_the_own_subject(monkeypatch):
    stages_pass(monkeypatch, 3)
    found = foils()
    (draft,) = found["a"]
    assert draft.foil == "a man does lateral lunges."
    assert (draft.facts["stage"], draft.facts["from_video"]) == (3, "v2")
    # Two boys: of the two others in number only "the same exercise" is left, and that points back.
    assert found["d"] == []
    assert found["e"] == []
    (paper,) = foils(mode="paper")["d"]
    assert paper.foil in ("two boys performs push-ups.", "two boys does lateral lunges.")


def test_one_is_drawn_by_the_seed(monkeypatch):
    stages_pass(monkeypatch, 1)
    drawn = {foils(seed=seed)["a"][0].foil for seed in range(12)}
    assert len(drawn) > 1
    again = [foils(seed=3)["a"][0] for _ in range(2)]
    assert again[0] == again[1]
    assert again[0].facts["candidates"] == 3


def test_real_models_drop_entailed_and_ungrammatical_foils():
    strict = outcomes("proficiency_action", EXERCISES, **{**FAKES, "min": 1.1})
    assert not any(judged.draft.facts["stage"] < 3 for one in strict for judged in one.foils)
    (counted,) = outcomes("proficiency_action", [CaptionInput("n", "he does exactly two jumps")], **FAKES)
    assert "first remove it with the caption maker action_caption" in counted.skipped[0]
    (alone,) = outcomes("proficiency_action", [CaptionInput("n", "a red cup")], **{**FAKES, "min": 1.1})
    assert "no stage gave" in alone.skipped[0]
