"""A seed gives the same foils in every version of Foilworks, as long as the version of the method stays.

If a foil here changes, runs of the past cannot be repeated: raise the VERSION of the method, then write the new foils.
"""

import pytest

from generation.records import CaptionInput
from tests.generation.making import outcomes

NAMES = [("Harry", "male", 90), ("Ron", "male", 30), ("Draco", "male", 3), ("Hermione", "female", 40)]
CAST = [{"name": name, "gender": gender, "movie": "HP", "frequency": n} for name, gender, n in NAMES]
FACTS = {"characters": [*CAST, {"name": "Ginny", "gender": "female", "movie": "HP"}], "movie": "HP"}


def targets(slug: str, captions: list[CaptionInput], **options) -> list[list[str]]:
    made = outcomes(slug, captions, **options)
    return [["/".join(edit.target for edit in judged.draft.edits) for judged in one.foils] for one in made]


@pytest.mark.parametrize(
    ("slug", "text", "options", "drawn"),
    [
        ("existence", "there is at least one apple", {"things": "any"}, "guitar canoe trumpet bottle hammer bottle"),
        ("existence", "there are some apples", {"things": "any"}, "guitars canoes trumpets bottles hammers bottles"),
        ("fake", "a dog runs", {"lexicon": "dog:cat|owl|ape|bee"}, "bee an/ape bee an/owl bee an/ape"),
        ("fake", "the small dog runs home", {}, "guitar feather guitar drum guitar elephant"),
        ("gender_swap", "the guys and a dog sing to the ladies", {}, "men men men girls girls men"),
        ("identity_swap", "Harry looks at Hermione", {"foils": 1}, "Draco Draco Draco Ron Ron Ron"),
        ("identity_swap", "Ron runs", {"foils": 1}, "Draco Draco Draco Harry Harry Harry"),
        ("number", "a man jumps exactly three times", {"mode": "paper"}, "six nine nine five eight five"),
        (
            "preposition",
            "putting a cup on the table",
            {"top": 1, "mode": "paper"},
            "among up outside underneath from across",
        ),
    ],
)
def test_a_seed_draws_this_foil_of_one_caption(slug, text, options, drawn):
    caption = CaptionInput("only", text, facts=FACTS)
    made = [targets(slug, [caption], seed=seed, **options)[0][0] for seed in range(6)]
    assert [target.replace(" ", "_") for target in made] == drawn.split()


def test_a_seed_draws_these_two_colours():
    caption = CaptionInput("only", "a red ball, a blue box and a green cup")
    made = [targets("colour_swap", [caption], seed=seed)[0][0] for seed in range(6)]
    assert made == ["green/red", "blue/red", "green/blue", "blue/red", "blue/red", "green/blue"]


@pytest.mark.parametrize(
    ("mode", "seed", "drawn"),
    [
        ("paper", 0, "eight four one/time two one/time three three seven"),
        ("paper", 1, "ten nine two one/time one/time three two six"),
    ],
)
def test_a_seed_exchanges_these_counts(mode, seed, drawn):
    said = ["two", "three", "four", "five", "six", "seven", "eight", "three"]
    captions = [CaptionInput(f"c{n}", f"a man jumps exactly {word} times", f"v{n}") for n, word in enumerate(said)]
    made = [target for (target,) in targets("number", captions, mode=mode, seed=seed, foils=1)]
    assert [target.replace(" ", "_") for target in made] == drawn.split()


@pytest.mark.parametrize(
    ("n", "foils", "drawn"),
    [
        (5, 2, ["2 1", "4 3", "3 0", "0 2", "2 0"]),
        # Of many captions, steps through all of them are drawn.
        (60, 3, ["31 14 42", "0 8 56", "26 33 53", "25 41 59", "32 24 20"]),
    ],
)
def test_a_seed_draws_these_captions_of_others(n, foils, drawn):
    captions = [CaptionInput(f"c{k}", f"a man jumps {k}", f"v{k}") for k in range(n)]
    made = outcomes("random_caption", captions, seed=1, foils=foils)[:5]
    assert [" ".join(judged.draft.foil.split()[-1] for judged in one.foils) for one in made] == drawn


def test_a_swapped_identity_has_its_facts_and_rank():
    (made,) = outcomes("identity_swap", [CaptionInput("only", "Ron runs", facts=FACTS)], foils=3, seed=1)
    found = [(judged.draft.foil, judged.draft.rank) for judged in made.foils]
    assert found == [("Draco runs", 0), ("Harry runs", 1)]
    assert made.foils[0].draft.facts == {
        "swapped": [["Ron", "Draco"]],
        "named": 1,
        "original_frequency": 30.0,
        "swapped_frequency": 3.0,
    }


@pytest.mark.parametrize(
    ("slug", "text", "facts"),
    [
        (
            "state_change",
            "Initially, the cup is full.",
            {"subtest": "pre_state", "verb": "empty", "reverse": "fill", "pre": "full", "post": "empty"}
            | {"reversible": True, "tagger": "offline rules"},
        ),
        ("existence", "there is at least one apple", {"thing": "apple", "source": "built-in list"}),
        (
            "number",
            "a man jumps exactly twice",
            {"count": 2, "foil_count": 8, "split": "easy"},
        ),
        (
            "colour_swap",
            "a red ball and the blue big box",
            {"things": ["ball", "box"], "tagger": "offline rules"},
        ),
        ("fake", "the small dog runs home", {}),
    ],
)
def test_a_foil_has_the_facts_of_its_method(slug, text, facts):
    (made,) = outcomes(slug, [CaptionInput("only", text)])
    assert made.foils[0].draft.facts == facts
    assert [judged.draft.rank for judged in made.foils] == list(range(len(made.foils)))
    assert {(judged.draft.method, judged.draft.mode) for judged in made.foils} == {(slug, "corrected")}


def test_several_foils_of_a_caption_are_ranked():
    for slug, text, options in (
        ("existence", "there are some apples", {"foils": 3}),
        ("colour_swap", "a red ball, a blue box and a green cup", {"foils": 3}),
        ("fake", "a dog", {"foils": 3}),
        ("number", "a man jumps exactly twice", {"foils": 3, "mode": "paper"}),
        ("preposition", "putting a cup on the table", {"top": 3}),
    ):
        (made,) = outcomes(slug, [CaptionInput("only", text)], **options)
        assert [judged.draft.rank for judged in made.foils] == [0, 1, 2]
        assert len({judged.draft.foil for judged in made.foils}) == 3


def test_captions_of_other_videos_are_named_and_equal_texts_are_not_foils():
    texts = ("a man jumps", " A MAN  jumps", "rain")
    captions = [CaptionInput(f"c{n}", text, f"v{n}") for n, text in enumerate(texts)]
    first, *_ = outcomes("random_caption", captions, foils=2)
    (judged,) = first.foils
    assert (judged.draft.foil, judged.draft.facts) == ("rain", {"from_caption": "c2", "from_video": "v2"})
