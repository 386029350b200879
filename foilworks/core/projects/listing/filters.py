"""The form above a list: an invalid value filters nothing."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.boundfield import BoundField


class Filters(forms.Form):
    """`chips`: names of fields whose choices are all in sight; a choice field among them has a RadioSelect."""

    chips: tuple[str, ...] = ()

    def __init__(self, data: Mapping[str, str], *, is_open: bool = False) -> None:
        """`is_open`: the folded fields are shown, so all of their choices are needed."""
        super().__init__(data)
        self.is_open = is_open

    def needs(self, name: str) -> bool:
        """Return whether the choices of a folded field have to be read: it is shown, or filters."""
        return self.is_open or bool(self.data.get(name))

    def chosen(self) -> dict[str, Any]:
        """Return the values that filter, by field."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}

    def search_fields(self) -> list[BoundField]:
        return [field for field in self if field.widget_type == "search"]

    def chip_fields(self) -> list[BoundField]:
        return [self[name] for name in self.chips if name in self.fields]

    def folded_fields(self) -> list[BoundField]:
        return [field for field in self if field.widget_type != "search" and field.name not in self.chips]

    def folded_chosen(self) -> list[str]:
        """Return what each folded field that filters says, such as "Votes: all for the caption"."""
        chosen = self.chosen()
        fields = [field for field in self.folded_fields() if field.name in chosen]
        return [f"{field.label}: {_choice_label(field)}" for field in fields]


def _choice_label(field: BoundField) -> str:
    labels = {str(value): label for value, label in getattr(field.field, "choices", [])}
    return str(labels.get(str(field.value()), field.value()))
