"""Existence: what is put where, in which form, and what never is."""

import pytest

from generation.errors import GenerationError
from generation.grammar.existence import frame_for, singular_noun
from generation.records import CaptionInput
from tests.generation.making import outcomes, over_seeds, skipped

# Caption, a caption of another video, the foil.
PAIRS = [
    ("there is at least one fridge", "there is at least one chocolate bar", "there is at least one chocolate bar"),
    ("there is at least one banana", "there is at least one blender", "there is at least one blender"),
    ("there is at least one shirt", "there are some peppers", "there is at least one pepper"),
    ("there are some spoons", "there is at least one car", "there are some cars"),
    ("there is at least one laptop", "there is at least one car", "there is at least one car"),
    ("there are some corns", "there is at least one blender", "there are some blenders"),
    ("there is at least one phone", "there is at least one egg", "there is at least one egg"),
    ("there is at least one door", "there are some towels", "there is at least one towel"),
    ("There is at least one phone.", "there is at least one bicycle", "There is at least one bicycle."),
    ("there are some eggs!", "there are some knives", "there are some knives!"),
    ("there is at least one knife", "there are some wolves", "there is at least one wolf"),
    ("there are some boxes.", "there is at least one person", "there are some people."),
    ("there is at least one child", "there are some geese", "there is at least one goose"),
    ("there are some women", "there is at least one man", "there are some men"),
    ("there are some fish", "there is at least one sheep", "there are some sheep"),
    ("there is some water", "there is some milk", "there is some milk"),
    ("There is some rice.", "there is some sand", "There is some sand."),
    ("THERE IS AT LEAST ONE CAR", "there is at least one dog", "THERE IS AT LEAST ONE DOG"),
    ("there is at least one Car", "there is at least one dog", "there is at least one Dog"),
    ("  there is at least one car", "there is at least one dog", "  there is at least one dog"),
    ("there  is at least one   car", "there is at least one dog", "there  is at least one   dog"),
    ("there are some wine glasses", "there is at least one cell phone", "there are some cell phones"),
    ("there is at least one candle", "there is at least one hand", "there is at least one hand"),
    ("there are some hands", "there is at least one candle", "there are some candles"),
    ("there is at least one mandarin", "there is at least one human", "there is at least one human"),
    ("there is at least one bus", "there is at least one glass", "there is at least one glass"),
    ("there are some buses", "there is at least one glass", "there are some glasses"),
    ("there are some tomatoes", "there is at least one potato", "there are some potatoes"),
    ("there is at least one baby", "there is at least one lady", "there is at least one lady"),
    ("there are some babies", "there are some ladies", "there are some ladies"),
    ("there are some towels", "there are some jeans", "there are some jeans"),
    ("there are some towels", "there are some clothes", "there are some clothes"),
    ("there are some scissors", "there is at least one cup", "there are some cups"),
    ("there are some towels", "there are some wine glasses", "there are some wine glasses"),
    ("there are some towels", "there are some peppers", "there are some peppers"),
    ("there are at least some cups", "there is at least one bowl", "there are at least some bowls"),
]


@pytest.mark.parametrize(("caption", "other", "foil"), PAIRS)
def test_a_caption_becomes_exactly_this_foil(caption, other, foil):
    given = [CaptionInput("a", caption, "v1"), CaptionInput("b", other, "v2")]
    made = [judged.draft.foil for judged in outcomes("existence", given, things="any")[0].foils]
    assert made == [foil]


def test_mode_paper_uses_the_other_captions_frame():
    given = [CaptionInput("a", "there is at least one shirt", "v1"), CaptionInput("b", "there are some peppers", "v2")]
    first, second = outcomes("existence", given, mode="paper", things="any")
    assert first.foils[0].draft.foil == "there are some peppers"
    assert second.foils[0].draft.foil == "there is at least one shirt"
    assert [(edit.start, edit.end, edit.target) for edit in first.foils[0].draft.edits] == [
        (6, 21, "are some"),
        (22, 27, "peppers"),
    ]


@pytest.mark.parametrize("thing", ["jeans", "clothes", "scissors", "pants", "shorts", "goggles"])
def test_a_thing_without_singular_is_never_at_least_one(thing):
    given = [CaptionInput("a", "there is at least one car", "v1"), CaptionInput("b", f"there are some {thing}", "v2")]
    first, second = outcomes("existence", given, things="any")
    assert not first.foils
    assert [judged.draft.foil for judged in second.foils] == ["there are some cars"]
    wrong = CaptionInput("b", f"there is at least one {thing}", "v2")
    (made,) = outcomes("existence", [given[0], wrong], mode="paper", things="any")[0].foils
    assert made.draft.foil == f"there are some {thing}"


@pytest.mark.parametrize(
    "caption",
    [
        "a man opens a fridge",
        "there is no fridge",
        "There are no people in the picture.",
        "there is a fridge",
        "",
        "there is at least one",
        "there is at least two cars",
        "there are some cars and a bus in the street today",
    ],
)
def test_other_sentences_are_skipped(caption):
    assert skipped("existence", caption).startswith("it does not contain")


def test_things_of_the_video_are_never_inserted():
    texts = ["there is at least one egg", "there are some cups", "there is at least one box"]
    given = [CaptionInput(f"a{n}", text, "v1", siblings=tuple(texts)) for n, text in enumerate(texts[:2])]
    given.append(CaptionInput("b", "there is at least one cup", "v2"))
    assert outcomes("existence", given, things="any")[0].skipped == (
        "its captions name every thing of the other videos",
    )
    seen = CaptionInput("c", "there is at least one egg", "v3", facts={"objects": ["cup", "eggs"]})
    assert not outcomes("existence", [seen, given[2]], things="any")[0].foils
    mentioned = CaptionInput("d", "there is at least one egg", "v4", siblings=("a man holds two cups",))
    assert not outcomes("existence", [mentioned, given[2]], things="any")[0].foils


def test_synonyms_of_the_videos_things_are_never_inserted():
    texts = ["there is at least one sofa", "there are some couches"]
    given = [CaptionInput(f"c{n}", text, f"v{n}") for n, text in enumerate(texts)]
    assert not any(one.foils for one in outcomes("existence", given, things="any"))
    given.append(CaptionInput("c2", "there is at least one drum", "v2"))
    first, second, _ = outcomes("existence", given, foils=5, things="any")
    assert [judged.draft.foil for judged in first.foils] == ["there is at least one drum"]
    assert [judged.draft.foil for judged in second.foils] == ["there are some drums"]
    # Said by another caption of the video, in the run or beside it.
    beside = [CaptionInput("a", "there is at least one egg", "v3", siblings=("a man sits on a couch",)), given[0]]
    assert not outcomes("existence", beside, things="any")[0].foils
    in_run = [CaptionInput("a", "there is at least one egg", "v4"), CaptionInput("b", texts[1], "v4"), given[0]]
    assert not outcomes("existence", in_run, things="any")[0].foils


@pytest.mark.parametrize(
    ("caption", "sibling", "other"),
    [
        ("dog", "people watch a dog", "clock"),
        ("dog", "a dog chases its tail in the park", "jet"),
        ("egg", "somebody seats a child", "armchair"),
        ("man", "a man waves", "woman"),
        ("lady", "", "boy"),
    ],
)
def test_a_verb_does_not_exclude_the_thing_of_the_same_name(caption, sibling, other):
    said, foil = (f"there is at least one {thing}" for thing in (caption, other))
    given = [CaptionInput("a", said, "v1", siblings=(sibling,)), CaptionInput("b", foil, "v2")]
    assert [judged.draft.foil for judged in outcomes("existence", given, things="any")[0].foils] == [foil]


@pytest.mark.parametrize(
    ("caption", "sibling", "other"),
    [
        ("dog", "a man wears a watch", "clock"),
        ("egg", "there are some couches", "sofa"),
        ("woman", "", "person"),
        ("person", "", "woman"),
        ("egg", "people watch a dog", "man"),
        ("baby", "", "girl"),
        ("oven", "", "door"),
        ("laptop", "", "keyboard"),
        ("egg", "a man opens a fridge", "door"),
        ("lady", "", "woman"),
    ],
)
def test_a_noun_excludes_all_synonyms_of_its_thing(caption, sibling, other):
    given = [CaptionInput("a", f"there is at least one {caption}", "v1", siblings=(sibling,))]
    given.append(CaptionInput("b", f"there is at least one {other}", "v2"))
    assert not outcomes("existence", given, things="any")[0].foils


def test_uncountable_things_replace_only_uncountable_things():
    given = [CaptionInput("a", "there is at least one egg", "v1"), CaptionInput("b", "there is some water", "v2")]
    assert not outcomes("existence", given, things="any")[0].foils
    assert outcomes("existence", given, mode="paper", things="any")[0].foils[0].draft.foil == "there is some water"


def test_things_are_drawn_in_proportion_to_their_frequency():
    others = [CaptionInput(f"o{n}", f"there is at least one {'dog' if n % 4 else 'cat'}", f"w{n}") for n in range(40)]
    captions = [CaptionInput(f"c{n}", "there is at least one egg", "v") for n in range(400)]
    made = [one.foils[0].draft.foil for one in outcomes("existence", captions + others, things="any")[:400]]
    assert 260 <= made.count("there is at least one dog") <= 340


def test_a_single_sentence_uses_the_built_in_list_and_records_it():
    found = over_seeds("existence", "there is at least one chair")
    assert "there is at least one drum" in found
    assert "there is at least one chair" not in found
    assert len(found) > 5
    (outcome,) = outcomes("existence", [CaptionInput("c", "there is at least one chair")], foils=100, things="any")
    assert len(outcome.foils) == 17
    assert outcome.foils[0].draft.facts == {"thing": "chair", "source": "built-in list"}


def test_forms():
    assert singular_noun("wine glasses") == "wine glass"
    assert frame_for("box", several=True) == ("are some", "boxes")
    assert frame_for("water", several=True) == ("is some", "water")
    assert frame_for("pepper", several=True) == ("are some", "peppers")
    assert frame_for("pepper", several=False) == ("is some", "pepper")
    assert frame_for("pants", several=False) == ("are some", "pants")
    with pytest.raises(GenerationError, match="'foils' is 0"):
        outcomes("existence", [], foils=0, things="any")


def test_a_thing_that_such_a_clip_may_show_is_asked_only_of_a_detector():
    captions = [CaptionInput("a", "there is at least one fridge", video="a")]
    captions += [CaptionInput(name, f"there is at least one {name}", video=name) for name in ("spoon", "chair", "drum")]
    (first, *_) = outcomes("existence", captions, foils=5)
    assert [judged.draft.foil for judged in first.foils] == ["there is at least one drum"]
    seen = CaptionInput("a", "there is at least one fridge", video="a", facts={"objects": ["fridge"]})
    (first, *_) = outcomes("existence", [seen, *captions[1:]], foils=5)
    assert len(first.foils) == 3
