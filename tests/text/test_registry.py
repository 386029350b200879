"""Rows of tables: what a parameter takes, and the one sentence that a wrong value is answered with."""

import pytest

from foilworks.core.text.registry import Entry, Param, RegistryError, load, lookup, parse_params

ENTRY = Entry(
    "Numbers",
    "foilworks.core.text.registry:Param",
    (
        Param("k", 5, "how many", "int"),
        Param("limit", 0.5, "a share", "float"),
        Param("strict", False, "yes or no", "bool"),
        Param("pairs", None, "pairs", "json"),
        Param("mode", "easy", "which half", "choice", ("easy", "difficult")),
        Param("name", "", "a name"),
    ),
)

TEXT = "text without NUL or half of a surrogate pair"
JSON = "JSON without NUL, half of a surrogate pair, NaN or infinity"


def test_missing_parameters_get_defaults() -> None:
    assert parse_params(ENTRY, {}) == {
        "k": 5,
        "limit": 0.5,
        "strict": False,
        "pairs": None,
        "mode": "easy",
        "name": "",
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("k", "12", 12),
        ("limit", "0.25", 0.25),
        ("limit", 1, 1.0),
        ("strict", "yes", True),
        ("strict", "off", False),
        ("pairs", '[["up", "down"]]', [["up", "down"]]),
        ("mode", "difficult", "difficult"),
    ],
)
def test_text_becomes_the_declared_kind(name: str, text: object, value: object) -> None:
    assert parse_params(ENTRY, {name: text})[name] == value


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("k", "many", "parameter 'k' is 'many'; give a whole number"),
        ("k", True, "parameter 'k' is True; give a whole number"),
        ("limit", "nan", "parameter 'limit' is 'nan'; give a finite number"),
        ("strict", "perhaps", "parameter 'strict' is 'perhaps'; give true or false"),
        ("pairs", "[", "parameter 'pairs' is '['; give JSON"),
        ("mode", "odd", "parameter 'mode' is 'odd'; give one of: easy, difficult"),
        ("name", 3, "parameter 'name' is 3; give text"),
        ("name", "a\x00", f"parameter 'name' is 'a\\x00'; give {TEXT}"),
        ("name", "\ud800", f"parameter 'name' is '\\ud800'; give {TEXT}"),
        ("pairs", "NaN", f"parameter 'pairs' is 'NaN'; give {JSON}"),
        ("pairs", {"a": ["\udc00"]}, f"parameter 'pairs' is {{'a': ['\\udc00']}}; give {JSON}"),
        ("pairs", "[" * 50_000, f"parameter 'pairs' is '{'[' * 159}…'; give JSON"),
        ("depth", "1", "Numbers has no parameter 'depth'; it takes: k, limit, strict, pairs, mode, name"),
    ],
)
def test_an_invalid_value_is_reported_with_the_valid_ones(name: str, text: object, says: str) -> None:
    with pytest.raises(RegistryError) as caught:
        parse_params(ENTRY, {name: text})
    assert str(caught.value) == says


def test_an_unknown_slug_lists_the_known_ones() -> None:
    with pytest.raises(RegistryError, match=r"unknown method 'nmber'; choose one of: fake, number"):
        lookup({"number": ENTRY, "fake": ENTRY}, "nmber", "method")


def test_load_imports_a_module_or_an_attribute_of_one() -> None:
    assert load(ENTRY) is Param
    assert load(Entry("A module", "foilworks.core.text.registry")).__name__ == "foilworks.core.text.registry"


@pytest.mark.parametrize(
    ("default", "kind", "says"),
    [
        (5, "integer", "parameter 'k': kind 'integer'; give one of: str, int, float, bool, choice, json"),
        ("many", "int", "parameter 'k' is 'many'; give a whole number"),
        ("5", "int", "parameter 'k' is '5'; give a default of the kind int, not text"),
        ("yes", "bool", "parameter 'k' is 'yes'; give a default of the kind bool, not text"),
        (5, "str", "parameter 'k' is 5; give text"),
        ("odd", "choice", "parameter 'k' is 'odd'; give one of: easy, hard"),
    ],
)
def test_an_invalid_parameter_of_a_row_fails_at_once(default: object, kind: str, says: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Param("k", default, "how many", kind, ("easy", "hard"))
    assert str(caught.value) == says


def test_an_empty_choice_is_not_listed_as_a_value():
    entry = Entry("x", "x", params=(Param("by", "", "who", "choice", ("", "machine", "person")),))
    assert parse_params(entry, {"by": ""})["by"] == ""
    with pytest.raises(RegistryError, match="give one of: machine, person"):
        parse_params(entry, {"by": "robot"})
