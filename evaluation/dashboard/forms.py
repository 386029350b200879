"""Define the form of a plan."""

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.dashboard.planning import PLAN
from projects.forms.registry_entry import EntryForm


class PlanForm(EntryForm):
    """The values of a plan: those of the address, else those that the project knows, else the defaults."""

    def __init__(self, known: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        defaults = {param.name: _shown(known.get(param.name, param.default)) for param in PLAN.params}
        given = {name: data.get(name, value) for name, value in defaults.items()}
        # An unchecked box is absent from an address with other values.
        if data and "stop_early" not in data:
            given["stop_early"] = False
        super().__init__(PLAN, given, prefix="")
        # Each field has a value at first, so none is marked as optional.
        for field in self.fields.values():
            field.required = not isinstance(field, forms.BooleanField)


def _shown(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
