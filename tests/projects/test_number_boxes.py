"""Every box for a number reads a decimal comma, and asks about what may group thousands."""

import re
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from django import forms
from django.core.exceptions import ValidationError

from foilworks.core.projects import number_fields as numbers
from foilworks.core.projects.forms.registry_entry import param_field
from foilworks.core.text.registry import Param

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("annotation", "evaluation", "generation", "foilworks")
OURS = (numbers.IntegerField, numbers.FloatField, numbers.DecimalField)
AMBIGUOUS = ("1.234,5", "1,234.5", "1,234", "1.234.567", "1 234,5", "1'234.50", "1\u202f234", "1,23,456", "1,2,3")


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("0,12", "0.12"),
        ("0.12", "0.12"),
        (",5", "0.5"),
        (" 7 ", "7"),
        ("1,2345", "1.2345"),
        ("1234,5", "1234.5"),
        ("0,123", "0.123"),
        ("\u0660\u066b\u0661\u0662", "0.12"),
    ],
)
def test_a_comma_is_a_decimal_point(typed, value):
    assert numbers.DecimalField().clean(typed) == Decimal(value)
    assert numbers.FloatField().clean(typed) == float(value)


@pytest.mark.parametrize("typed", AMBIGUOUS)
@pytest.mark.parametrize("field", [numbers.DecimalField(), numbers.FloatField(), numbers.IntegerField()])
def test_separators_that_may_group_thousands_are_asked_about(field, typed):
    with pytest.raises(ValidationError) as refused:
        field.clean(typed)
    assert refused.value.error_list[0].code == "ambiguous"
    assert typed in refused.value.messages[0]


@pytest.mark.parametrize(
    ("field", "typed", "code"),
    [
        (numbers.IntegerField(), "1.000", "ambiguous"),
        (numbers.IntegerField(), "1,5", "invalid"),
        (numbers.DecimalField(), "1.234", "ambiguous"),
        *((field, "1_0", "invalid") for field in (numbers.IntegerField(), numbers.FloatField())),
        (numbers.FloatField(), "1.500", "ambiguous"),
        *((numbers.FloatField(), text, "invalid") for text in ("nan", "inf", "one", "0x1", "1,5 EUR", "--1", "1e999")),
    ],
)
def test_what_is_not_a_number_is_refused(field, typed, code):
    with pytest.raises(ValidationError) as refused:
        field.clean(typed)
    assert [error.code for error in refused.value.error_list] == [code]


def test_numbers_that_the_product_writes_itself_are_read():
    for number in (3.142, -1.5, 1e-05, 0.001, 1.5, 100.0, 1234.25):
        assert numbers.FloatField().clean(str(number)) == number


def form_classes() -> list[type[forms.BaseForm]]:
    files = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    for path in (path for path in files if "forms" in str(path)):
        import_module(".".join(path.with_suffix("").parts))

    def below(kind: type) -> list[type]:
        return [cls for sub in kind.__subclasses__() for cls in (sub, *below(sub))]

    return [cls for cls in below(forms.BaseForm) if cls.__module__.split(".")[0] in ROOMS]


def test_no_form_has_a_number_box_of_the_browser():
    """A browser whose language has no decimal comma turns 0,12 into 12 there."""
    classes = form_classes()
    assert len(classes) > 80
    boxes = {
        f"{cls.__module__}.{cls.__name__}.{name}"
        for cls in classes
        for name, field in cls.base_fields.items()
        if isinstance(field.widget, forms.NumberInput)
        or (isinstance(field, forms.IntegerField) and not isinstance(field, OURS))
    }
    assert boxes == set()
    source = "\n".join(
        p.read_text() for room in ROOMS for p in (ROOT / room).rglob("*.py") if p.name != "number_fields.py"
    )
    assert re.findall(r"forms\.(?:Integer|Float|Decimal)Field|NumberInput", source) == []
    pages = "\n".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    assert re.findall(r"type=[\"']number", pages) == []


@pytest.mark.parametrize(("kind", "field"), [("int", numbers.IntegerField), ("float", numbers.FloatField)])
def test_parameters_of_tables_have_such_boxes(kind, field):
    assert isinstance(param_field(Param("size", 1, "", kind)), field)


def test_a_phone_shows_digits_unless_the_number_may_have_a_sign():
    shown = {low: numbers.FloatField(min_value=low).widget.attrs.get("inputmode") for low in (0, -1, None)}
    assert shown == {0: "decimal", -1: None, None: None}
    assert numbers.IntegerField(min_value=1).widget.attrs["inputmode"] == "numeric"


@pytest.mark.parametrize(
    ("typed", "value"),
    [("80 %", 0.8), ("80", 0.8), ("0.8", 0.8), ("0,5 %", 0.005), ("1 %", 0.01), ("100 %", 1.0), ("1.0", 1.0), ("0", 0)],
)
def test_a_share_is_per_cent_or_a_share(typed, value):
    assert numbers.ShareField().clean(typed) == pytest.approx(value)


def test_a_share_is_shown_as_per_cent_and_one_is_asked_about():
    field = numbers.ShareField()
    assert [field.prepare_value(value) for value in (0.463, "0.8", "x", None)] == ["46.3 %", "80 %", "x", None]
    with pytest.raises(ValidationError, match="1 % or 100 %"):
        field.clean("1")
    assert field.clean(field.prepare_value(0.925)) == pytest.approx(0.925)
