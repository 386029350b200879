"""The validation report from facts."""

import pytest

from evaluation.analyses import validation
from evaluation.analyses.registry import REPORTS
from evaluation.errors import EvaluationError
from foilworks.core.text.registry import load
from tests.evaluation.builders import item

DRAWS = 200
KEYS = {
    "name",
    "n_items",
    "n_valid",
    "n_unanimous",
    "n_valid_proficiency",
    "n_both",
    "n_lexical_items",
    "js_all",
    "js_valid",
    "alpha_all",
    "alpha_valid",
    "alpha_coding",
}


def test_counts_of_the_four_states_of_an_item():
    items = [
        item("a", "b", votes=(3, 0, 0), valid=True, unanimous=True, simpler=("a", "c", True)),
        item("a", "b", votes=(2, 1, 0), valid=True, unanimous=False, simpler=("a", "c", False)),
        item("a", "b", votes=(1, 1, 1), valid=False, unanimous=False, simpler=("a", "c", True)),
        item("a", "b", votes=(0, 0, 3), valid=False, unanimous=False),
    ]
    got = validation.compute(items, draws=DRAWS)
    (row,) = got["subtests"]
    assert row.keys() >= KEYS
    counts = [row[k] for k in ("n_items", "n_valid", "n_unanimous", "n_valid_proficiency", "n_both")]
    assert counts == [4, 2, 1, 2, 1]
    assert got["overall"] == {**row, "name": "overall", "test": None}
    assert row["alpha_coding"] == "truth3"
    # D_o = 0 + 2 + 3 + 0; caption 6, foil 2, other 4 of 12: D_e = (144 - 56) / 11.
    assert row["alpha_all"] == pytest.approx(1 - 5 * 11 / 88)
    # Valid only: 3-0-0 and 2-1-0: D_o = 2, caption 5, foil 1 of 6: D_e = (36 - 26) / 5 = 2, so that alpha is 0.
    assert row["alpha_valid"] == pytest.approx(0, abs=1e-12)
    assert row["votes"] == {"caption": 6, "foil": 2, "other": 4}
    assert row["proficiency"]["n_items"] == 3
    assert row["proficiency"]["n_valid"] == 2
    assert row["proficiency"]["n_lexical_items"] == 2


def test_every_pair_of_an_item_is_a_unit_of_agreement():
    two = item("a", "b", "c", votes=((3, 0, 0, 0, 0), (0, 3, 0, 0, 0)), valid=False, unanimous=False)
    (row,) = validation.compute([two], draws=DRAWS)["subtests"]
    assert row["alpha_coding"] == "truth"
    assert row["alpha_all"] == 1
    assert row["alpha_valid"] is None
    assert "no unit has two votes" in row["alpha_valid_reason"]


def test_unknown_values_are_null():
    (row,) = validation.compute([item("a dog", "a cat")], draws=DRAWS)["subtests"]
    for key in ("n_valid", "n_unanimous", "n_valid_proficiency", "n_both", "js_valid", "alpha_all", "proficiency"):
        assert row[key] is None, key
    assert row["js_all"] == pytest.approx(0.7071067811865476)


def test_subtests_keep_their_order_and_pool_into_overall():
    items = [item("a", "b", subtest=name, votes=(3, 0, 0), valid=True, unanimous=True) for name in ("z", "a", "z")]
    got = validation.compute(items, draws=DRAWS)
    assert [(row["name"], row["n_items"]) for row in got["subtests"]] == [("z", 2), ("a", 1)]
    assert got["overall"]["n_valid"] == 3


def test_missing_items_are_explained():
    with pytest.raises(EvaluationError, match="no items"):
        validation.compute([])


INPUTS = frozenset(
    {"items", "texts", "votes", "stages", "people", "scored", "corpus", "edits", "reviews", "objects", "verdicts"}
    | {"replacement", "responses", "screening"}
)


def test_every_row_of_the_table_gives_what_the_commands_call():
    for slug, entry in REPORTS.items():
        module = load(entry)
        assert module.INPUT in INPUTS, slug
        assert callable(module.compute)
        assert module.VERSION
