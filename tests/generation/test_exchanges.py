"""Exchange two persons everywhere: names, plain nouns and pronouns; what is told of both is left alone."""

import pytest

from foilworks.core.text.diff import apply_edits
from foilworks.core.text.language.tools import tagger
from generation.grammar.exchanges import NO_NAMES, exchanged, learned_names

EXCHANGED = [
    ("Monica hands the phone to Chandler and he calls her.", "Chandler hands the phone to Monica and she calls him."),
    ("Rachel asks Chandler where he was.", "Chandler asks Rachel where she was."),
    ("Ross ties Joey's tie for him.", "Joey ties Ross's tie for him."),
    ("A man picks up a woman and spins her.", None),
    ("A man pushes a woman and she hits him.", "A woman pushes a man and he hits her."),
    ("Barney buttons up his shirt while talking to Lily.", "Lily buttons up her shirt while talking to Barney."),
    ("When Howard plays a game, Amy walks in the room.", "When Amy plays a game, Howard walks in the room."),
    ("Ross and Monica sit on the couch.", None),
    ("Ross gives Rachel a big hug.", None),
    ("Ross talks to Rachel.", None),
    ("A man in a hat pushes a woman.", None),
    ("Ross tells Monica and Joey a story.", None),
    ("Sheldon and Amy hug each other.", None),
]


@pytest.mark.parametrize(("caption", "foil"), EXCHANGED)
def test_two_persons_change_places_everywhere_or_not_at_all(caption, foil):
    edits = exchanged(caption, tagger("offline").tag(caption), NO_NAMES, named=not caption.startswith("A "))
    assert (apply_edits(caption, edits) if edits else None) == foil


def test_a_run_tells_names_that_are_other_words_too():
    caption = "House walks up to Cuddy and gives her a file."
    texts = ["House sits down.", "We see House.", "House smiles and he leaves.", "Then House talks and he runs."]
    texts += ["There House waits and he eats.", "House is at his desk.", "Later House opens his door."]
    texts += [
        "Cuddy runs.",
        "Then Cuddy walks to her car.",
        "Then Cuddy sits by her desk.",
        "Then Cuddy is in her room.",
    ]
    names = learned_names(texts)
    assert (names.genders["House"], names.genders["Cuddy"]) == ("m", "f")
    tokens = tagger("offline").tag(caption)
    edits = exchanged(caption, tokens, names, named=True)
    assert edits
    assert apply_edits(caption, edits) == "Cuddy walks up to House and gives him a file."
    assert exchanged(caption, tokens, NO_NAMES, named=True) is None
