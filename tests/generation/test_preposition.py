"""Preposition replacement: what each caption becomes, and what is left alone."""

import pytest

from generation.errors import GenerationError
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, skipped

PAIRS = "left to right:right to left,up:down,towards:away from,into view:out of view,top to bottom:bottom to top"

# Caption and all its foils by the built-in list, in mode corrected.
ON = ("in", "under", "behind", "in front of", "inside", "outside", "above", "below")
IN = ("on", "under", "over", "behind", "in front of", "on top of", "outside", "above", "below")
ON_A_SEAT = tuple(word for word in ON if word not in ("in", "inside"))
IN_A_SEAT = tuple(word for word in IN if word not in ("on", "on top of"))
IN_FRONT_OF = ("on", "in", "under", "over", "behind", "on top of", "inside", "above", "below")
OUT_OF = ("onto", "into", "across", "along", "towards", "around", "past", "up", "down")
ALL_FOILS = [
    ("rolling a can on a flat surface", "rolling a can {} a flat surface", ON),
    ("A cat sleeps on the box.", "A cat sleeps {} the box.", ON),
    # What is on a sofa is in it; "outside" stays true of whatever is in front of a thing or behind it.
    ("A cat sleeps on the sofa.", "A cat sleeps {} the sofa.", ON_A_SEAT),
    ("A man sits in a big red chair.", "A man sits {} a big red chair.", IN_A_SEAT),
    ("A man rides on a bus.", "A man rides {} a bus.", ON_A_SEAT),
    ("a girl inside a train", "a girl {} a train", tuple(word for word in IN if word != "on")),
    (
        "A dog hides behind the barn.",
        "A dog hides {} the barn.",
        ("on", "in", "under", "over", "in front of", "on top of", "inside", "above", "below"),
    ),
    ("a fish swims in a bowl", "a fish swims {} a bowl", IN),
    # "out of" is one preposition: neither "out" nor "of" is replaced; "from" would stay true.
    ("pouring water out of a cup.", "pouring water {} a cup.", OUT_OF),
    ("holding a bottle in front of a laptop", "holding a bottle {} a laptop", IN_FRONT_OF),
    ("a box on top of a table", "a box {} a table", ("in", "under", "behind", "in front of", "inside", "below")),
    (
        "pouring water into a glass",
        "pouring water {} a glass",
        ("onto", "out of", "off", "from", "across", "along", "away from", "around", "past", "up", "down"),
    ),
    (
        "moving silicone towards the camera",
        "moving silicone {} the camera",
        (
            "onto",
            "into",
            "out of",
            "off",
            "from",
            "across",
            "along",
            "through",
            "away from",
            "around",
            "past",
            "up",
            "down",
        ),
    ),
]


@pytest.mark.parametrize(("caption", "frame", "words"), ALL_FOILS)
def test_a_caption_gets_all_of_these_foils(caption, frame, words):
    made = drafts("preposition", caption, top=100)
    assert {draft.foil for draft in made} == {frame.format(word) for word in words}
    assert [draft.rank for draft in made] == list(range(len(made)))


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        # Only the whole phrase changes: no "over left to right".
        ("pulling gymnastic bands from left to right", ["pulling gymnastic bands from right to left"]),
        ("pushing a cup from right to left.", ["pushing a cup from left to right."]),
        ("it falls from top to bottom", ["it falls from bottom to top"]),
        ("it slides From The Left To The Right", ["it slides From the right to the left"]),
        ("a ball rolls to the left.", ["a ball rolls to the right."]),
        ("a dog to the left of a cat", ["a dog to the right of a cat"]),
        ("a dog sits on the right", ["a dog sits on the left"]),
        # Capitals and the article's sound.
        ("IN FRONT OF A HOUSE", [f"{word.upper()} A HOUSE" for word in IN_FRONT_OF]),
        ("In a box, a cat sleeps", [f"{word.capitalize()} a box, a cat sleeps" for word in IN]),
        # Particles of verbs stay; what relates a place beside them changes.
        ("she picks up a cup on a tray", [f"she picks up a cup {word} a tray" for word in ON]),
        ("he puts on a hat", []),
        ("scooping cereal up with a spoon", []),
        ("he sits down", []),
        ("a goat on a hill", [f"a goat {word} a hill" for word in ON]),
        # Worn things are no places; a red car is one.
        ("a man in a red shirt", []),
        ("a woman in black sings", []),
        ("she sits in the red car", [f"she sits {word} the red car" for word in IN]),
        # Times, counts and fixed phrases.
        ("he peels a melon in exactly two moves", []),
        ("he sleeps for over ten minutes", []),
        ("in the morning she sings", []),
        ("a man talks on the phone", []),
        ("turning a cup upside down", []),
        ("running up and down the stairs", []),
        ("tearing a paper into two pieces", []),
        ("he jumps three times in total", []),
        # Nouns, hyphens, possessives, accents: other words.
        ("the inside of the box", []),
        ("he does sit-ups", []),
        ("an on-screen cat", []),
        ("an über cat", []),
        # "from … to …" is one relation of two places: half of it cannot change.
        ("moving a ball from the box to the table", []),
        # "with" and "to" relate no place.
        ("hitting a book with a stapler", []),
        ("pretending to eat", []),
    ],
)
def test_exactly_these_prepositions_are_replaced(caption, expected):
    assert sorted(draft.foil for draft in drafts("preposition", caption, top=100)) == sorted(expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("on", "onto"),
        ("in", "into"),
        ("in", "inside"),
        ("out of", "from"),
        ("off", "from"),
        ("over", "above"),
        ("under", "below"),
        ("towards", "toward"),
    ],
)
def test_replacements_that_stay_true_are_blocked_in_both_directions(first, second):
    for given, blocked in ((first, second), (second, first)):
        foils = {draft.target for draft in drafts("preposition", f"a cat jumps {given} a box", top=100)}
        assert foils
        assert blocked not in foils


def test_entailed_replacements_are_blocked_in_one_direction():
    down = {draft.target for draft in drafts("preposition", "a ball rolls down a ramp", top=100)}
    assert "on" not in down
    assert "along" not in down
    assert "near" not in {draft.target for draft in drafts("preposition", "a cat behind a box", top=100)}
    # The chair is what the box is on.
    boxed = {draft.foil for draft in drafts("preposition", "a cat in a box on a chair", top=100)}
    assert "a cat on a box on a chair" in boxed
    assert "a cat in a box in a chair" not in boxed


def test_paper_mode_takes_any_other_preposition_and_breaks_into_phrases():
    made = {draft.foil for draft in drafts("preposition", "pulling bands from left to right", mode="paper", top=100)}
    assert "pulling bands over left to right" in made
    assert "rolling a can onto a surface" in {
        draft.foil for draft in drafts("preposition", "rolling a can on a surface", mode="paper", top=100)
    }
    assert {draft.target for draft in drafts("preposition", "he hits it with a pen", mode="paper", top=100)} > {"on"}


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a red circle moves from left to right.", ["a red circle moves from right to left."]),
        ("a red circle moves from right to left.", ["a red circle moves from left to right."]),
        ("A star moves up", ["A star moves down"]),
        ("an up arrow", ["a down arrow"]),
        ("a down arrow", ["an up arrow"]),
        ("An UP arrow", ["A DOWN arrow"]),
        ("it drifts Towards the middle", ["it drifts Away from the middle"]),
        ("it drifts away from the middle", ["it drifts towards the middle"]),
        ("it fades out of view.", ["it fades into view."]),
        ("moves up and down", ["moves down and down", "moves up and up"]),
        ("a cup moves from left  to\tright", ["a cup moves from right to left"]),
        ("sit-ups upward", []),
        ("a red circle moves on the table", []),
    ],
)
@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_pairs_exchange_exact_opposites_and_nothing_else(caption, expected, mode):
    made = drafts("preposition", caption, mode=mode, pairs=PAIRS)
    assert [draft.foil for draft in made] == expected
    assert all(draft.facts["ranking"] == "the exact opposite; nothing to rank" for draft in made)


def test_pairs_written_in_both_directions_give_each_foil_once():
    made = drafts("preposition", "it moves up", pairs="up:down,down:up")
    assert [draft.foil for draft in made] == ["it moves down"]


@pytest.mark.parametrize("pairs", ["up", "up:", ":down", "up:up", "up:down,up:under", "up:down|"])
def test_invalid_pairs_are_named(pairs):
    with pytest.raises(GenerationError, match="parameter 'pairs'"):
        drafts("preposition", "it moves up", pairs=pairs)


def test_without_a_corpus_the_built_in_list_is_used_and_recorded():
    (first, *_) = drafts("preposition", "a cat on a box")
    assert first.facts["ranking"].startswith("unranked: no language model")
    assert first.facts["ranking"].endswith("built-in list")


def test_a_corpus_gives_its_own_prepositions_by_frequency():
    captions = [CaptionInput(f"in{n}", f"cat {n} sleeps in a box") for n in range(90)]
    captions += [CaptionInput(f"under{n}", f"cat {n} sleeps under a box") for n in range(10)]
    captions += [CaptionInput(f"behind{n}", f"cat {n} sleeps behind a box") for n in range(300)]
    found = outcomes("preposition", captions, top=1, seed=2)
    chosen = [one.foils[0].draft for one in found if one.caption.id.startswith("behind")]
    assert {draft.target for draft in chosen} == {"in", "under"}
    # 90 to 10 in the captions: of 300 draws 270 are expected, with a deviation of sqrt(300 * .9 * .1) = 5.2.
    assert 250 <= sum(draft.target == "in" for draft in chosen) <= 290
    assert "in proportion to the prepositions of the run's captions" in chosen[0].facts["ranking"]


def test_top_is_the_max_number_of_candidates_per_caption():
    assert len(drafts("preposition", "a cat on a box", top=3)) == 3
    with pytest.raises(GenerationError, match="parameter 'top' is 0"):
        drafts("preposition", "a cat on a box", top=0)


def test_the_reason_of_a_skip_is_named():
    assert skipped("preposition", "a cat sleeps") == "it has no preposition of space that can be replaced"
    assert skipped("preposition", "a cat sleeps", pairs="up:down") == "it has no phrase of the parameter pairs"
    many = [CaptionInput(f"{n}", f"cat {n} sits on a box") for n in range(30)]
    assert outcomes("preposition", many)[0].skipped == ("every possible replacement might stay true",)
