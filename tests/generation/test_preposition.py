"""Preposition replacement: what each caption becomes, and what is left alone."""

import pytest

from generation.errors import GenerationError
from generation.grammar.prepositions import fitting, relations, replacements
from generation.methods.preposition import MAX_RELATIONS, NONE_SURE
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, skipped

PAIRS = "left to right:right to left,up:down,towards:away from,into view:out of view,top to bottom:bottom to top"

# Caption and all its foils without a model, in mode corrected.
ALL_FOILS = [
    ("rolling a can on a flat surface", "rolling a can {} a flat surface", ("off",)),
    ("letting a ball roll down a slanted surface", "letting a ball roll {} a slanted surface", ("up",)),
    ("pouring water into a glass", "pouring water {} a glass", ("out of",)),
    ("pouring water out of a can", "pouring water {} a can", ("into",)),
    ("spilling tea onto a table", "spilling tea {} a table", ("next to",)),
    ("putting a cup on the table", "putting a cup {} the table", ("under", "next to", "behind")),
    ("dropping a pen onto a desk", "dropping a pen {} a desk", ("off", "under")),
    ("taking a coin out of a bag", "taking a coin {} a bag", ("from behind", "from under")),
    ("taking a plate out of a cupboard", "taking a plate {} a cupboard", ("from on top of",)),
    ("putting milk into the fridge", "putting milk {} the fridge", ("on top of", "next to")),
    ("moving silicone towards the camera", "moving silicone {} the camera", ("away from",)),
    ("moving a pen and a ruler away from each other", "moving a pen and a ruler {} each other", ("towards",)),
    ("holding a bottle in front of a laptop", "holding a bottle {} a laptop", ("behind",)),
    ("holding a bottle over a box", "holding a bottle {} a box", ("under",)),
    ("The sun sets behind the mountains.", "The sun sets {} the mountains.", ("in front of",)),
    ("A cat sleeps on the sofa.", "A cat sleeps {} the sofa.", ("next to", "behind")),
    ("A man sits in a big red chair.", "A man sits {} a big red chair.", ("next to",)),
    ("a man walks over to the window", "a man walks {} the window", ("away from",)),
    ("a girl inside a train", "a girl {} a train", ("outside",)),
    ("a chef prepares soup in the kitchen", "a chef prepares soup {} the kitchen", ("outside",)),
    ("two men sing on stage", "two men sing {} stage", ("off",)),
    ("a man is talking in a car", "a man is talking {} a car", ("outside", "next to")),
    ("A woman climbs up the stairs.", "A woman climbs {} the stairs.", ("down",)),
    ("a dog runs into the house", "a dog runs {} the house", ("out of",)),
    ("a boy runs into a wall", "a boy runs {} a wall", ("away from",)),
    ("a girl jumps off a bridge", "a girl jumps {} a bridge", ("onto",)),
    ("a lady sits next to a globe", "a lady sits {} a globe", ()),
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
        ("IN FRONT OF A HOUSE", ["BEHIND A HOUSE"]),
        ("In a garage, a cat sleeps", ["Outside a garage, a cat sleeps"]),
        # Particles of verbs stay; what relates a place beside them changes.
        (
            "she picks up a cup from a shelf",
            ["she picks up a cup from behind a shelf", "she picks up a cup from under a shelf"],
        ),
        ("he puts on a hat", []),
        # Loosely true, or not to be filmed.
        ("he walks down the street", []),
        ("a man talks in front of a wall", []),
        ("a woman sits in front of a computer", []),
        ("a man climbs over a wall", []),
        ("scooping cereal up with a spoon", []),
        ("he sits down", []),
        ("he looks for a key", []),
        ("the frog turns into a prince", []),
        ("she carries a child off in a car", []),
        # Worn things are no places; a red car is one.
        ("a man in a red shirt", []),
        ("a woman in black sings", []),
        ("she sits in the red car", ["she sits outside the red car", "she sits next to the red car"]),
        # Idioms, media, parts of the body; what drives is not outside.
        ("a cup in her hand", []),
        ("a scene from a film", []),
        ("he is on the right track", []),
        ("a cat is shown on the screen", []),
        ("a man drives in a car", []),
        ("a whale swims in the sea", []),
        # What follows from the relation would not fit.
        ("putting a pen on a ramp so it slides down", []),
        # A floor has nothing under it, and a wall that is written on is no place.
        ("a dog lies on the floor", []),
        ("she paints on a wall", []),
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
    [("on", "onto"), ("in", "into"), ("out of", "from"), ("over", "above"), ("under", "below"), ("towards", "toward")],
)
def test_replacements_that_stay_true_are_not_candidates_of_a_model(first, second):
    for given, blocked in ((first, second), (second, first)):
        (relation,) = relations(f"a cat jumps {given} a box", "corrected")
        found = replacements(relation, "corrected", None)
        assert found
        assert blocked not in found


def test_entailed_replacements_are_blocked_in_one_direction():
    (relation,) = relations("a ball rolls down a ramp", "corrected")
    assert not {"on", "along", "near"} & set(replacements(relation, "corrected", None))
    (relation,) = relations("a man sits in a chair", "corrected")
    assert "on" not in replacements(relation, "corrected", None)


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
        ("moves from the UP to the down", ["moves from the DOWN to the up"]),
        ("moves up, then up", ["moves down, then down"]),
        # Both phrases of a pair, or another form of one: no foil says the same twice or contradicts itself.
        ("moves up and down", []),
        ("moves UP and then Down", []),
        ("moves up to a down-arrow", []),
        ("moves from up to down and from down to up", []),
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


@pytest.mark.parametrize(
    ("caption", "pairs", "expected"),
    [
        ("a car turns from left to right", "left:right", ["a car turns from right to left"]),
        ("a car turns left, and another right", "left:right", []),
        ("she leaves and turns left", "left:right", ["she leaves and turns right"]),
        ("he opens a box and an open door closes", "opens:closes", []),
        ("he opens a box while it is opening", "opens:closes", []),
        ("he moves up and left", "up:down,left:right", ["he moves down and left", "he moves up and right"]),
        ("it goes in and out", "in:out|off", ["it goes off and out"]),
    ],
)
def test_no_foil_has_both_words_of_a_pair_except_at_the_ends_of_a_path(caption, pairs, expected):
    assert [draft.foil for draft in drafts("preposition", caption, pairs=pairs)] == expected


def test_the_facts_of_a_reversed_path_name_its_first_end():
    (made,) = drafts("preposition", "it goes from right to left", pairs="left:right")
    assert (made.source, made.target) == ("right to left", "left to right")
    assert (made.facts["from"], made.facts["to"]) == ("right", "left")


def test_a_caption_with_both_words_of_a_pair_is_skipped_with_the_reason():
    assert skipped("preposition", "left and right", pairs="left:right").startswith("it has both phrases of a pair")


def test_pairs_written_in_both_directions_give_each_foil_once():
    made = drafts("preposition", "it moves up", pairs="up:down,down:up")
    assert [draft.foil for draft in made] == ["it moves down"]


@pytest.mark.parametrize("pairs", ["up", "up:", ":down", "up:up", "up:down,up:under", "up:down|"])
def test_invalid_pairs_are_named(pairs):
    with pytest.raises(GenerationError, match="parameter 'pairs'"):
        drafts("preposition", "it moves up", pairs=pairs)


def test_exact_opposites_are_first_and_named():
    first, second = drafts("preposition", "dropping a pen onto a desk")
    assert (first.target, first.facts["ranking"]) == ("off", "the exact opposite; nothing to rank")
    assert second.facts["ranking"].startswith("unranked: no language model")
    assert second.facts["ranking"].endswith("built-in list")


def test_a_corpus_gives_its_own_prepositions_first_and_by_frequency():
    captions = [CaptionInput(f"under{n}", f"man {n} is under a bridge") for n in range(90)]
    captions += [CaptionInput(f"behind{n}", f"man {n} is behind a bridge") for n in range(10)]
    captions += [CaptionInput(f"on{n}", f"man {n} puts a box on a table") for n in range(300)]
    found = outcomes("preposition", captions, top=3, seed=2)
    made = [[judged.draft for judged in one.foils] for one in found if one.caption.id.startswith("on")]
    assert {foils[-1].target for foils in made} == {"next to"}
    # 90 to 10 in the captions: of 300 draws 270 are expected, with a deviation of sqrt(300 * .9 * .1) = 5.2.
    assert 250 <= sum(foils[0].target == "under" for foils in made) <= 290
    assert "in proportion to the prepositions of the run's captions" in made[0][0].facts["ranking"]


def test_top_is_the_max_number_of_candidates_per_caption():
    assert len(drafts("preposition", "putting a cup on the table", top=2)) == 2
    with pytest.raises(GenerationError, match="parameter 'top' is 0"):
        drafts("preposition", "a cat on a box", top=0)


def test_the_reason_of_a_skip_is_named():
    assert skipped("preposition", "a cat sleeps") == "it has no preposition of space that can be replaced"
    assert skipped("preposition", "a cat sleeps", pairs="up:down") == "it has no phrase of the parameter pairs"
    assert skipped("preposition", "a dog lies on the floor") == NONE_SURE


@pytest.mark.parametrize(
    ("text", "facts", "why"),
    [
        ("ein Mann in einer Box", {"language": "de"}, "the caption's language is 'de'"),
        ("мужчина сидит в машине", {}, "the caption is in another script"),
    ],
)
def test_captions_of_other_languages_are_skipped(text, facts, why):
    assert why in skipped("preposition", text, facts=facts)
    assert drafts("preposition", "Иван sits in a car")[0].target == "outside"


def test_mode_paper_draws_from_the_prepositions_of_the_captions_if_there_are_enough():
    captions = [CaptionInput(f"under{n}", "a man is under a bridge") for n in range(3)]
    captions += [CaptionInput("behind", "a cup behind a box"), CaptionInput("on", "a cup on a table")]

    def targets(least: int) -> list[set[str]]:
        made = outcomes("preposition", captions, mode="paper", min_corpus=least, top=99)
        return [{judged.draft.target for judged in one.foils} for one in made]

    assert targets(5) == [{"behind", "on"}] * 3 + [{"on", "under"}, {"behind", "under"}]
    assert all(len(found) > 20 for found in targets(6))


def test_of_a_long_caption_only_the_first_prepositions_are_checked(monkeypatch):
    checks = []

    def counted(text, relation):
        checks.append(relation)
        return fitting(text, relation)

    monkeypatch.setattr("generation.methods.preposition.fitting", counted)
    text = " ".join(f"A man sits on chair{n}." for n in range(3 * MAX_RELATIONS))
    drafts("preposition", text)
    assert len(relations(text, "corrected")) == 3 * MAX_RELATIONS
    assert len(set(checks)) == MAX_RELATIONS
