"""Hard foils of multiple-choice items: marked in the file, nearest by changed words, or a fact."""

from foilworks.core.corpus.rules.hard_foils import (
    MARKED,
    NEAREST,
    REMOVED,
    STATED,
    Candidates,
    HardFoil,
    candidates_of,
    hard_foils,
    is_multiple_choice,
    stated_roles,
)

CAPTION = "a man folds a red shirt"
OTHERS = ("two dogs run on a beach", "a woman cooks", "a car turns left")
EDITED = "a man tears a red shirt"
FOILS = (OTHERS[0], EDITED, *OTHERS[1:])


def found(**given):
    (one,) = hard_foils([Candidates("s", CAPTION, **{"foils": FOILS, **given})])
    return one


def test_the_marked_ending_is_the_hard_foil_whatever_is_nearest():
    # Endings: the caption is ending 2, so foils 0 and 1 are endings 0 and 1, foils 2 and 3 are endings 3 and 4.
    for c_label, index in ((0, 0), (1, 1), (3, 2), (4, 3)):
        assert found(extra={"label": 2, "c_label": c_label}) == HardFoil(index, MARKED)


def test_without_a_mark_the_foil_with_the_fewest_changed_words_is_the_hard_one():
    assert found(extra={"label": 2}) == HardFoil(1, NEAREST)
    # Equal numbers of changed words: the most similar letters.
    near = ("a man holds a blue skirt", "a man holds a red skirt", "a man knots a red shirts")
    assert found(extra={"label": 0}, foils=near) == HardFoil(1, NEAREST)


def test_a_fact_goes_first_and_items_of_other_formats_have_no_hard_foil():
    assert found(extra={"label": 2, "c_label": 1}, facts={"hard_foil": 3}) == HardFoil(3, STATED)
    assert found() is None
    assert found(extra={"label": "2"}) is None
    assert found(extra={"label": 0}, foils=(EDITED,)) is None


def test_a_dropped_hard_foil_leaves_the_item_without_one():
    left = {"foils": (FOILS[0], *FOILS[2:]), "positions": [0, 2, 3]}
    assert found(extra={"label": 2, "c_label": 1}, **left) == HardFoil(REMOVED, MARKED)
    assert found(extra={"label": 2, "c_label": 4}, **left) == HardFoil(2, MARKED)


def test_a_set_of_captions_of_other_videos_has_no_hard_foils():
    assert hard_foils([Candidates("random", CAPTION, OTHERS, {"label": 0})] * 3) == [None] * 3


def test_the_rule_reads_these_fields_of_a_frozen_record():
    record = {"subtest": "s", "caption": CAPTION, "foils": list(FOILS)}
    assert candidates_of(record) == Candidates("s", CAPTION, FOILS, {}, {}, None)
    more = {"extra": {"label": 1}, "facts": {"hard_foil": 0}, "foil_positions": [0, 1, 3, 4]}
    assert candidates_of({**record, **more}) == Candidates(
        "s", CAPTION, FOILS, {"label": 1}, {"hard_foil": 0}, [0, 1, 3, 4]
    )


def test_the_role_of_each_foil_is_what_the_item_states():
    def roles(**given):
        return stated_roles(Candidates("s", CAPTION, FOILS[:3], **given))

    assert roles(facts={"hard_foil": 1}) == ["random", "hard", "random"]
    assert roles(facts={"hard_foil": 0}) == ["hard", "random", "random"]
    assert roles(facts={"hard_foil": None}) == ["random"] * 3
    assert roles(facts={"hard_foil": REMOVED}) == ["random"] * 3
    assert roles(extra={"label": 0, "c_label": 3}) == ["random", "random", "hard"]
    assert roles() == ["", "", ""]


def test_an_item_is_one_choice_if_it_numbers_its_caption_or_states_its_hard_foil():
    assert is_multiple_choice(Candidates("s", CAPTION, FOILS, facts={"hard_foil": None}))
    assert is_multiple_choice(Candidates("s", CAPTION, FOILS[:2], extra={"label": 0}))
    assert not is_multiple_choice(Candidates("s", CAPTION, FOILS[:1], extra={"label": 0}))
    assert not is_multiple_choice(Candidates("s", CAPTION, FOILS, extra={"label": -1}))
    assert not is_multiple_choice(Candidates("s", CAPTION, FOILS, extra={"label": True}))
