"""The form of the rates: an amount and a unit a stage, the currency, the floor."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import PayPolicy, Stage
from annotation.models.pay import CURRENCY
from annotation.queries.paid_work import PAID
from annotation.rules.pay import Rate, Unit

UNITS = ((Unit.PIECE.value, _("a piece")), (Unit.HOUR.value, _("an hour")))


def _amount(**fields: Any) -> forms.DecimalField:
    widget = forms.NumberInput(attrs={"min": 0, "step": "any", "inputmode": "decimal", "class": "input"})
    return forms.DecimalField(min_value=Decimal(0), max_digits=10, widget=widget, required=False, **fields)


class PayForm(forms.Form):
    """A stage whose amount is left empty earns nothing."""

    currency = forms.CharField(label=_("Currency"), max_length=3, validators=[CURRENCY])
    floor = _amount(
        label=_("Floor, an hour"),
        decimal_places=2,
        help_text=_("You are warned where the hour in the middle earns less. Left empty: nothing is checked."),
    )

    def __init__(self, *args: Any, policy: PayPolicy, rates: dict[str, Rate], **kwargs: Any) -> None:
        super().__init__(*args, initial={"currency": policy.currency, "floor": policy.floor}, **kwargs)
        for stage in PAID:
            rate = rates.get(stage)
            label = Stage(stage).label
            self.fields[f"{stage}_amount"] = _amount(
                label=_("Amount for: %(stage)s") % {"stage": label},
                decimal_places=4,
                initial=rate and f"{rate.amount.normalize():f}",
            )
            self.fields[f"{stage}_unit"] = forms.ChoiceField(
                label=_("Unit for: %(stage)s") % {"stage": label},
                choices=UNITS,
                initial=rate and rate.unit,
                widget=forms.Select(attrs={"class": "input"}),
            )

    def rows(self) -> list[tuple[str, forms.BoundField, forms.BoundField]]:
        """(label, amount, unit) of every stage that can be paid."""
        return [(Stage(stage).label, self[f"{stage}_amount"], self[f"{stage}_unit"]) for stage in PAID]

    def asked(self) -> dict[str, Any]:
        """What set_pay takes; the form is valid."""
        given = self.cleaned_data
        rates = {
            stage: Rate(given[f"{stage}_unit"], given[f"{stage}_amount"])
            for stage in PAID
            if given[f"{stage}_amount"] is not None
        }
        return {"currency": given["currency"], "floor": given["floor"], "rates": rates}
