"""What is checked before and after every method: the changed words are asserted, and the rest still holds."""

import pytest

from foilworks.core.text.diff import diff_edits
from generation.filters import asserted, contradiction
from generation.grammar.assertion import why_unasserted
from generation.records import CaptionInput
from tests.generation.making import outcomes

RULES = ("actor_swap", "preposition", "state_change", "gender_swap", "colour_swap")

NOT_ASSERTED = [
    "The man does not push the woman in the red coat into the blue room.",
    "The man doesn't open the door.",
    "Nobody opens the window.",
    "Neither boy throws the ball to the girl.",
    "There is no dog in front of the house.",
    "A woman walks without putting on her coat.",
    "The woman fails to lift the box onto the table.",
    "The woman stops the man from opening the door.",
    "He refuses to open the box.",
    "The girl almost falls into the pool.",
    "He pretends to throw the ball into the box.",
    "She wants to open the door.",
    "The boy wishes to put the keys into the bag.",
    "A girl puts milk instead of water into the box.",
    "The man would rather sit than stand next to the woman.",
    "She might put the keys into the bag.",
    "If the man opens the door, the dog runs away.",
    "The dog runs away if the man opens the door.",
    "Unless the man opens the door, the woman sits on the sofa.",
    "Does the man open the door?",
    "Is a woman sitting on the couch",
    "The man is about to open the door.",
    "A sign says that a man opens the door.",
    "The boy is too short to put the box onto the shelf.",
    "She is asked to put the keys into the bag.",
]


@pytest.mark.parametrize("caption", NOT_ASSERTED)
def test_a_clause_that_is_not_asserted_gets_no_foil(caption):
    for method in RULES:
        (outcome,) = outcomes(method, [CaptionInput("1", caption)])
        assert not outcome.foils, method
        assert outcome.skipped


@pytest.mark.parametrize(
    ("caption", "foil"),
    [
        ("The man opens the door.", "The man closes the door."),
        ("The man opens the door and does not speak.", "The man closes the door and does not speak."),
        ("A woman can be seen opening the door.", "A woman can be seen closing the door."),
        ("A man tells a boy that nobody is there.", "A man tells a girl that nobody is there."),
        ("Open the door.", "Close the door."),
        ("He opens the door with no shirt on.", "He closes the door with no shirt on."),
    ],
)
def test_what_is_asserted_may_change_beside_what_is_not(caption, foil):
    assert not why_unasserted(caption, diff_edits(caption, foil))
    assert asserted.judge(CaptionInput("1", caption), foil, others=(), params={}).passed


CONTRADICTED = [
    ("A man picks up a glass and drinks from it.", "A man puts down a glass and drinks from it."),
    ("The man puts on the hat and adjusts the hat.", "The man takes off the hat and adjusts the hat."),
    ("Two people stand, one waves while the other sings.", "One person stands, one waves while the other sings."),
    ("Two people talk to each other.", "Three people talk to each other."),
    ("Two girls sit in a room. The girls read.", "Three girls sit in a room. The girls read."),
    ("She pours soda into a glass and sips from it.", "She pours soda out of a glass and sips from it."),
    ("He pours juice from the bowl into the glass.", "He pours juice into the bowl into the glass."),
    ("A person reads while a second person eats.", "A second person reads while a person eats."),
    ("A man holds an apple.", "A man holds an pear."),
]


@pytest.mark.parametrize(("caption", "foil"), CONTRADICTED)
def test_a_foil_that_its_own_caption_contradicts_is_dropped(caption, foil):
    verdict = contradiction.judge(CaptionInput("1", caption), foil, others=(), params={})
    assert (verdict.passed, verdict.score) == (False, 1.0)
    assert verdict.detail


@pytest.mark.parametrize(
    ("caption", "foil"),
    [
        ("A man picks up a glass and smiles.", "A man puts down a glass and smiles."),
        ("Two girls sit in a room.", "Three girls sit in a room."),
        ("Three people clap two times.", "Three people clap one time."),
        ("A dog chases a cat.", "A cat chases a dog."),
        (
            "Initially, the rice is dry. At the end, the rice is wet.",
            "Initially, the rice is wet. At the end, the rice is dry.",
        ),
    ],
)
def test_a_foil_that_holds_together_passes(caption, foil):
    assert contradiction.judge(CaptionInput("1", caption), foil, others=(), params={}).passed


def test_mode_paper_is_not_guarded():
    (outcome,) = outcomes("gender_swap", [CaptionInput("1", "The man does not open the door.")], mode="paper")
    assert [judged.draft.foil for judged in outcome.foils] == ["The woman does not open the door."]


# Swaps that no caption would say, in the words of the findings' kinds.
NO_SWAP = [
    "A person sits on the bed, watching TV.",
    "The person looks around then walks over to an ottoman.",
    "A man with a flag is standing in a crowd.",
    "A person is leafing through a book while a dog runs around the house.",
    "Beckett scratches her arm while talking to Castle.",
    "Ann, Eve and Tom are sitting at the bar and Tom is waving.",
]


@pytest.mark.parametrize("caption", NO_SWAP)
def test_participants_that_cannot_change_places_stay(caption):
    (outcome,) = outcomes("actor_swap", [CaptionInput("1", caption)], tagger="offline")
    assert not outcome.foils


def test_the_pronoun_of_a_known_first_name_fits_the_swap():
    (outcome,) = outcomes(
        "actor_swap", [CaptionInput("1", "Emma scratches her arm while shouting at Paul.")], tagger="offline"
    )
    assert [judged.draft.foil for judged in outcome.foils] == ["Paul scratches his arm while shouting at Emma."]


NO_CHANGE = [
    ("state_change", "The woman washes her hands."),
    ("state_change", "A boy is wearing a red cap."),
    ("state_change", "She enters the room and sits on a chair."),
    ("state_change", "She opens the gift."),
    ("preposition", "A person takes a drink from a cup."),
    ("preposition", "Then the man puts pasta in a pot and adds water to cook."),
    ("preposition", "A mum in a grey jumper waves."),
    ("preposition", "Clips are shown over a period of time."),
    ("number", "He cuts the cake in two."),
    ("number", "She walks from one table to the other."),
    ("number", "They high five while they watch."),
]


@pytest.mark.parametrize(("method", "caption"), NO_CHANGE)
def test_changes_that_nobody_writes_are_not_made(method, caption):
    (outcome,) = outcomes(method, [CaptionInput("1", caption)])
    assert not outcome.foils


@pytest.mark.parametrize(
    ("method", "caption", "foil"),
    [
        ("state_change", "He takes out a knife.", "He puts away a knife."),
        ("state_change", "She puts the plate on the table.", "She takes the plate off the table."),
        ("number", "Two dogs run.", "One dog runs."),
    ],
)
def test_natural_captions_get_natural_foils(method, caption, foil):
    foils = set()
    for seed in range(12):
        (outcome,) = outcomes(method, [CaptionInput("1", caption)], seed=seed)
        foils |= {judged.draft.foil for judged in outcome.foils}
    assert foil in foils
