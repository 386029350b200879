"""Kinds of foils that strict readers of captions that nobody had used rejected, in other sentences.

Each kind has a foil that is not made. Beside it is a like one that is: a rule should not refuse more than its kind.
"""

import pytest

from tests.generation.making import drafts

# All candidates of a caption, as a run that draws sees them.
ALL = {
    "preposition": {"top": 100},
    "state_change": {"foils": 5, "tagger": "offline"},
    "number": {"foils": 40, "anchor": "any"},
    "gender_swap": {"foils": 4, "tagger": "offline"},
    "actor_swap": {"tagger": "offline"},
    "colour_swap": {"foils": 5, "tagger": "offline"},
    "identity_swap": {"foils": 10, "characters": [{"name": name, "gender": "female"} for name in ("Ada", "Grace")]},
}
FAULTS = [
    ("no front of its own", "preposition", "A clerk sits {} a desk.", "behind", "in front of"),
    ("door behind somebody", "preposition", "The boy slams the door {} him.", "behind", "in front of"),
    ("pulled behind", "preposition", "A tractor pulls a plough {} it.", "behind", "in front of"),
    ("taken away", "preposition", "A girl takes a ball {} a boy.", "away from", "towards"),
    ("looked for", "preposition", "A boy looks {} the bed.", "under", "on"),
    ("one sees it in front", "preposition", "Two girls watch kites fly {} them.", "in front of", "behind"),
    ("side of a person", "preposition", "A dog is on the {} side of a tall man.", "left", "right"),
    ("seen first", "preposition", "the camera first moves to the {}", "left", "right"),
    ("posture", "preposition", "A girl leans {} her friend.", "towards", "away from"),
    ("contact follows", "preposition", "The coach walks {} a player and hugs him.", "towards", "away from"),
    ("view", "preposition", "a red bus comes {} view", "into", "out of"),
    ("purpose with a posture", "preposition", "A cook bends down to take coins {} a purse.", "out of", "into"),
    ("through a door", "preposition", "The guard walks {} the door.", "out of", "into"),
    ("somebody is left", "preposition", "The nurse walks {} the office leaving her bag.", "out of", "into"),
    ("already there", "preposition", "A child stands on a box. Then the child jumps {} the box.", "off", "onto"),
    ("contents poured", "preposition", "A man grabs a jug and pours milk {} a glass.", "into", "out of"),
    ("boat and bridge", "preposition", "A kayak goes {} a bridge.", "under", "over"),
    ("ramp", "preposition", "A girl rides a scooter {} a ramp.", "up", "down"),
    ("sled", "preposition", "Kids ride a sled {} a hill.", "down", "up"),
    ("both ways", "preposition", "A boy runs up and then walks back {} the stairs.", "down", "up"),
    ("instruction", "preposition", "Rinse {} slicing.", "before", "after"),
    ("order of senses", "preposition", "Ann opens the gate {} hearing a knock.", "after", "before"),
    ("done again", "preposition", "A man sings {} eating and sings again.", "before", "after"),
    ("thing of both acts", "preposition", "A woman fills a jar {} closing the jar.", "before", "after"),
    ("goes through", "state_change", "A boy {} the door and walks outside.", "opens", "closes"),
    ("goes through first", "state_change", "A man walks out of the shed {} the door.", "closing", "opening"),
    ("left alone", "state_change", "Ann {} the door leaving Tom alone.", "closes", "opens"),
    ("state told", "state_change", "{} fridge open", "close", "open"),
    ("undressing", "state_change", "the man undresses and {} a jacket.", "takes off", "puts on"),
    ("may follow later", "state_change", "a girl first {} the box", "opens", "closes"),
    ("how it is dried", "state_change", "{} the spoon with a towel", "dry", "rinse"),
    ("washed, too", "state_change", "wash and {} the spoon", "dry", "rinse"),
    ("goes to a seat", "state_change", "A man walks to a bench and {}.", "sits down", "stands up"),
    ("acts while standing", "state_change", "A girl {} and walks to the window.", "stands up", "sits down"),
    (
        "what is cut",
        "state_change",
        "A cook slices a carrot and {} a plate.",
        "puts the slices on",
        "takes the slices off",
    ),
    ("with one another", "number", "Two girls huddle under a tree.", "Two girls huddle", "One girl huddles"),
    ("in groups", "number", "Kids play in teams of {}.", "three", "one"),
    ("plural behind", "number", "A man buys {} from a shop.", "two shirts on hangers", "one shirt on hangers"),
    ("only", "number", "A boy climbs using only {}.", "one hand", "two hands"),
    ("to another", "number", "{} the bag to another.", "One boy gives", "Two boys give"),
    ("joined subject", "number", "A girl in blue and {} bags.", "two boys carry", "one boy carries"),
    ("began by both", "number", "{} to clap.", "Two boys begin", "One boy begins"),
    ("clothes of a gender", "gender_swap", "A {} in a sundress waves.", "girl", "boy"),
    ("for the first time", "gender_swap", "A {} jumps for the first time.", "man", "woman"),
    ("of a named person", "gender_swap", "Paul laughs when a {} shirt.", "man folds his", "woman folds her"),
    ("among the others", "gender_swap", "One man waves, then two {} wrestle.", "men", "women"),
    ("lights alternate", "colour_swap", "the stage lights change from {}", "green to pink", "pink to green"),
]
MADE = [
    ("preposition", "The coach walks {} a player and whistles.", "towards", "away from"),
    ("preposition", "The guard walks {} the room.", "out of", "into"),
    ("preposition", "A man pours milk {} a glass.", "into", "out of"),
    ("preposition", "A girl walks {} the stairs.", "up", "down"),
    ("preposition", "the camera moves to the {}", "left", "right"),
    ("state_change", "A boy {} the door.", "opens", "closes"),
    ("state_change", "A boy {} the door and walks away.", "closes", "opens"),
    ("state_change", "the man {} a jacket.", "takes off", "puts on"),
    ("state_change", "A girl {} and waves.", "stands up", "sits down"),
    ("number", "A man buys {} from a shop.", "two shirts", "one shirt"),
    ("number", "{} under a tree.", "Two girls sleep", "One girl sleeps"),
    ("gender_swap", "A {} back.", "woman has a tattoo on her", "man has a tattoo on his"),
    ("gender_swap", "A {} jumps.", "man", "woman"),
    ("colour_swap", "a {} car passes a {} truck", ("red", "blue"), ("blue", "red")),
]
NO_SWAP = [
    ("A nurse pushes a boy in a wheelchair.", "what holds one of them"),
    ("A mother feeds a child in a high chair.", "what holds one of them"),
    ("A boy kisses a woman next to a girl sticking out her tongue.", "a pronoun of a third person"),
    ("A thief looks away from a guard.", "both may do it"),
    ("A clerk turns around to look at a guard.", "both may look"),
    ("A chef takes a bow and thanks a girl who waves a flag.", "a description longer than its clause"),
    ("A girl in red bumps into a boy in blue.", "both do it"),
    ("A man lists things that scare a woman.", "a relative clause"),
]


def foils(method: str, caption: str) -> set[str]:
    return {draft.foil for draft in drafts(method, caption, **ALL[method])}


def filled(template: str, words: str | tuple[str, ...]) -> str:
    if "{}" not in template:
        return template
    return template.format(*((words,) if isinstance(words, str) else words))


@pytest.mark.parametrize(("kind", "method", "template", "words", "fault"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_foil_of_a_rejected_kind_is_not_made(kind, method, template, words, fault):
    caption = filled(template, words)
    wrong = filled(template, fault) if "{}" in template else caption.replace(words, fault)
    assert wrong != caption
    assert wrong not in foils(method, caption), kind


@pytest.mark.parametrize(("method", "template", "words", "others"), MADE)
def test_a_foil_beside_a_rejected_kind_is_made(method, template, words, others):
    assert filled(template, others) in foils(method, filled(template, words))


@pytest.mark.parametrize(("caption", "kind"), NO_SWAP)
def test_a_swap_of_a_rejected_kind_is_not_made(caption, kind):
    assert not foils("actor_swap", caption), kind


def test_a_title_or_company_ties_a_name_to_its_person():
    for caption in ("Captain Ada waves.", "Ada walks with Tom."):
        assert not foils("identity_swap", caption)
    assert foils("identity_swap", "Ada waves.") == {"Grace waves."}
