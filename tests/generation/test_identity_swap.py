"""Identity swap: one name, by movie and gender; in mode paper the first, and later ones with even chance."""

import pytest

from generation.errors import GenerationError
from generation.methods.identity_swap import prepare
from generation.records import CaptionInput
from tests.generation.making import outcomes, over_seeds

HARRY, RON, HERMIONE, GINNY = (
    {"name": name, "gender": gender, "movie": "HP", "frequency": frequency}
    for name, gender, frequency in (
        ("Harry", "male", 90),
        ("Ron", "male", 30),
        ("Hermione", "female", 40),
        ("Ginny", "f", 1),
    )
)
GINNY = {**GINNY, "gender": "female"}
CAST = [HARRY, RON, HERMIONE, GINNY]
FACTS = {"characters": CAST, "movie": "HP"}

ALL_FOILS = [
    ("Harry opens the door.", {"Ron opens the door."}),
    ("Hermione reads", {"Ginny reads"}),
    # Only one name is swapped.
    ("Harry looks at Hermione.", {"Ron looks at Hermione."}),
    ("Hermione looks at Harry.", {"Ginny looks at Harry."}),
    # Genitives, punctuation, brackets, line ends.
    ("Harry's owl", {"Ron's owl"}),
    ("Harry’s owl", {"Ron’s owl"}),
    ("Harry, tired, sits", {"Ron, tired, sits"}),
    ("(Harry)", {"(Ron)"}),
    ("“Harry”", {"“Ron”"}),
    ("run, Harry", {"run, Ron"}),
    ("he sees Ginny!", {"he sees Hermione!"}),
    ("🙂 Harry — שלום", {"🙂 Ron — שלום"}),
    # A name that occurs twice stays, also misspelt.
    ("Harry runs and Harry falls", set()),
    ("Harry sees Ginny; Harry waves", {"Harry sees Hermione; Harry waves"}),
    ("Ginny's hand holds Ginny's wand.", set()),
    ("Harry and Hary sit down.", set()),
    ("Harry and Ronn sit down.", set()),
    # A relative, a role, a possession or a romance is the person's own.
    ("Harry hugs his brother.", set()),
    ("Harry tells them about his audition.", set()),
    ("Harry kisses Hermione on the lips.", set()),
    ("Harry and the other doctors talk.", set()),
    ("Hermione leans on her broomstick.", set()),
    # Pronouns keep their gender, so they stay.
    ("Harry takes his wand", {"Ron takes his wand"}),
    ("Hermione ties her shoes.", {"Ginny ties her shoes."}),
    # Every other word, capitals and marks stay.
    ("SOMEONE hits Ron!", {"SOMEONE hits Harry!"}),
    ("a girl follows Ron into the hall", {"a girl follows Harry into the hall"}),
    ("At dawn Ron sleeps.", {"At dawn Harry sleeps."}),
    ("Ron\nsleeps", {"Harry\nsleeps"}),
    # Passives, questions, numbers, quotes inside a sentence.
    ("Harry is chased by a dragon.", {"Ron is chased by a dragon."}),
    ("is Ginny asleep?", set()),
    ("2 owls follow Hermione", {"2 owls follow Ginny"}),
    ("a sign says 'Ron'", set()),
    ("Ron, Ron, Ron!", set()),
    ("the man behind Harry's desk", {"the man behind Ron's desk"}),
    ("Hermione—tired—yawns", {"Ginny—tired—yawns"}),
    # Two of one gender: the first becomes whom the caption does not name, and there is nobody else.
    (
        "SOMEONE gives Hermione a book, and Ron laughs",
        {"SOMEONE gives Ginny a book, and Ron laughs"},
    ),
    ("Her cat bites Ginny.", set()),
    ("mandarin for Harry", {"mandarin for Ron"}),
    # Scripts write names in capitals.
    ("HARRY opens the door.", {"RON opens the door."}),
    ("Then HARRY’s owl leaves", {"Then RON’s owl leaves"}),
]


@pytest.mark.parametrize(("caption", "foils"), ALL_FOILS)
def test_a_caption_gets_all_of_these_foils(caption, foils):
    assert over_seeds("identity_swap", caption, facts=FACTS) == foils


@pytest.mark.parametrize(
    "caption",
    [
        "harry opens the door",
        "Harryhausen waves",
        "a Harry-like man",
        "McHarry",
        "a man opens it",
        "Ronnie",
        "HARRYHAUSEN",
        "",
    ],
)
def test_a_word_that_only_looks_like_a_name_is_ignored(caption):
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", caption, facts=FACTS)])
    assert outcome.skipped == ("it names none of the characters",)


WORDS_TOO = [{"name": name, "gender": "male"} for name in ("Will", "Mark", "Chase", "Ron")]


@pytest.mark.parametrize(
    "caption",
    [
        "Will Harry Potter win?",
        "Mark the spot on the map.",
        "Chase the dog!",
        "A dog barks. Will it bite?",
        "WILL HE WIN?",
    ],
)
def test_a_common_word_that_opens_a_sentence_does_not_count_as_a_name(caption):
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", caption, facts={"characters": WORDS_TOO})])
    assert outcome.skipped == ("it names none of the characters",)


@pytest.mark.parametrize(
    "caption",
    ["Will opens the door.", "Mark fell.", "the dog follows Chase", "Mark, tired, sits", "Will's hat", "WILL walks in"],
)
def test_a_name_that_is_also_a_word_is_found_where_only_a_name_fits(caption):
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", caption, facts={"characters": WORDS_TOO})])
    assert len(outcome.foils) == 1


def test_the_longest_name_wins_and_aliases_name_their_character():
    cast = [{**HARRY, "name": "Harry Potter", "aliases": ["Harry", "Mr. Potter"]}, RON]
    assert over_seeds("identity_swap", "Harry Potter runs", facts={"characters": cast}) == {"Ron runs"}
    assert over_seeds("identity_swap", "Harry runs, Mr. Potter falls", facts={"characters": cast}) == set()
    assert over_seeds("identity_swap", "Ron runs", facts={"characters": cast}) == {"Harry Potter runs"}


@pytest.mark.parametrize("caption", ["Harry hits Ron", "Ron's friend Harry"])
def test_no_character_becomes_one_that_the_caption_already_names(caption):
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", caption, facts=FACTS)])
    assert "has no other male character" in outcome.skipped[0]
    assert over_seeds("identity_swap", "Harry hits Ron", facts=FACTS, mode="paper") == {
        "Ron hits Ron",
        "Ron hits Harry",
    }


def test_only_characters_of_the_movie_are_used():
    other = {"name": "Frodo", "gender": "male", "movie": "LOTR"}
    facts = {"characters": [HARRY, other], "movie": "HP"}
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", "Harry waves", facts=facts)])
    assert outcome.skipped == ("the movie has no other male character to replace Harry",)
    facts = {"characters": [*CAST, other], "movie": "LOTR"}
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", "Harry waves", facts=facts)])
    assert outcome.skipped == ("it names none of the characters",)


def test_later_names_have_even_chance_in_mode_paper_which_decides_each_mention():
    captions = [CaptionInput(f"c{n}", "Harry looks at Hermione.", facts=FACTS) for n in range(400)]
    made = [one.foils[0].draft.foil for one in outcomes("identity_swap", captions, mode="paper")]
    assert 160 <= made.count("Ron looks at Ginny.") <= 240
    assert over_seeds("identity_swap", "Harry runs and Harry falls", facts=FACTS, mode="paper") == {
        "Ron runs and Ron falls",
        "Ron runs and Harry falls",
    }


def test_a_list_of_characters_as_parameter_can_be_weighted_by_frequency():
    cast = [{"name": name, "gender": "m", "frequency": n} for name, n in (("Al", 0), ("Bo", 0), ("Cy", 199))]
    captions = [CaptionInput(f"c{n}", "Al runs") for n in range(300)]
    alike = [one.foils[0].draft.foil for one in outcomes("identity_swap", captions, characters=cast)]
    assert 110 <= alike.count("Cy runs") <= 190
    weighed = [
        one.foils[0].draft.foil for one in outcomes("identity_swap", captions, characters=cast, draw="frequency")
    ]
    assert weighed.count("Cy runs") >= 290
    many = outcomes("identity_swap", captions[:1], characters=cast, foils=2)
    assert {judged.draft.foil for judged in many[0].foils} == {"Bo runs", "Cy runs"}


def test_missing_characters_are_the_reason_of_the_skip():
    (outcome,) = outcomes("identity_swap", [CaptionInput("c", "Harry waves")])
    assert outcome.skipped == ("no characters are given for its movie",)


@pytest.mark.parametrize(
    ("cast", "message"),
    [
        ("Harry", "not a list of characters"),
        (["Harry"], "each needs name and gender"),
        ([{"name": "Harry"}], "each needs name and gender"),
        ([{**HARRY, "age": 3}], "'age' is not a field of a character"),
        ([{**HARRY, "frequency": -1}], "give a number from 0"),
        ([{**HARRY, "aliases": "H"}], "are not a list of names"),
        ([HARRY, HARRY], "occurs twice in one movie"),
    ],
)
def test_an_invalid_list_of_characters_is_reported(cast, message):
    with pytest.raises(GenerationError, match=message):
        outcomes("identity_swap", [CaptionInput("c", "Harry waves", facts={"characters": cast})])


def test_train_captions_that_name_a_character_are_counted_by_movie():
    texts = ["Harry runs", "Harry sees Harry", "Ron and Harry sit", "a dog sits"]
    captions = [CaptionInput(str(n), text, facts=FACTS) for n, text in enumerate(texts)]
    given = {"params": {"characters": ""}, "mode": "corrected", "seed": 0}
    assert prepare(captions, **given) == {("HP", "Harry"): 3, ("HP", "Ron"): 1}
    assert prepare([], **given) is None
