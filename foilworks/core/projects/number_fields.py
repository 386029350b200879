"""Number fields that read `0,12` and `0.12` alike in every locale.

They are text boxes: a browser's number box silently drops a comma that its own language does not use.
"""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Field
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,\u066b]\d*)?|[.,\u066b]\d+)(?:[eE][+-]?\d+)?")
# Digits with separators that are not a plain number: 1.234,5 or 1 234 or 1'234.50.
SEPARATED = re.compile(r"[+-]?\d[\d.,'’\s\u066b\u066c]*")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")


def with_point(text: str, *, strict: bool = False) -> str | None:
    """Return the number with a decimal point, None if the text is not a number.

    ValidationError for a separator that may group thousands: `1.234,5`, `1,234`, `1.500`, and if `strict` also `1.234`.
    """
    typed = text.strip()
    thousands = THOUSANDS.fullmatch(typed)
    # The product writes no number with a zero at its end: 1.500 was typed, maybe for 1500.
    if NUMBER.fullmatch(typed) and not (thousands and (strict or thousands[1] == "," or typed.endswith("0"))):
        return re.sub("[,\u066b]", ".", typed)
    if not SEPARATED.fullmatch(typed):
        return None
    message = _("'%(typed)s' can be read in several ways. Enter it without thousands separators, such as 1234.5.")
    raise ValidationError(message % {"typed": typed[:40]}, code="ambiguous")


class _Number(forms.Field):
    """Read a comma as a decimal point; `widget_attrs` ask a phone for digits."""

    widget = forms.TextInput
    strict = True
    keyboard = "decimal"

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            value = with_point(value, strict=self.strict)
            if value is None:
                raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        lowest = getattr(self, "min_value", None)
        # The keyboard of digits on some phones has no minus sign.
        has_sign = lowest is None or lowest < 0
        return {"autocomplete": "off"} | ({} if has_sign else {"inputmode": self.keyboard})


class IntegerField(_Number, forms.IntegerField):
    keyboard = "numeric"


class FloatField(_Number, forms.FloatField):
    # The product writes such numbers itself, as 3.142.
    strict = False


class ShareField(FloatField):
    """A share from 0 to 1, shown as per cent: `80 %` and `80` are 0.8, and so is `0.8`, as programs send it."""

    default_error_messages = {"either": _lazy("'1' can be 1 % or 100 %. Enter one of them with its sign.")}

    def to_python(self, value: Any) -> Any:
        if not isinstance(value, str):
            return super().to_python(value)
        typed = value.strip()
        number = super().to_python(typed.removesuffix("%"))
        if number is None or (not typed.endswith("%") and number <= 1):
            if typed == "1":
                raise ValidationError(self.error_messages["either"], code="either")
            return number
        return number / 100

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = self.to_python(value)
            except ValidationError:
                return value
        return value if value is None else f"{100 * value:.6g} %"


class DecimalField(_Number, forms.DecimalField):
    pass


def of_column(column: Field, **options: Any) -> forms.Field | None:
    """Return the form field of a model's column, for `formfield_callback`."""
    kinds = {"FloatField": FloatField, "PositiveIntegerField": IntegerField, "PositiveSmallIntegerField": IntegerField}
    kind = kinds.get(column.get_internal_type())
    return column.formfield(**{**({"form_class": kind} if kind else {}), **options})
