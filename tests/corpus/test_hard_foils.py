"""Hard foils of multiple-choice items: marked in the file, nearest by changed words, or a fact."""

from corpus.rules.hard_foils import MARKED, NEAREST, REMOVED, STATED, Candidates, HardFoil, hard_foils

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
