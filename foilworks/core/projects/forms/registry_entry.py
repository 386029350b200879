"""A form made from one row of a table (foilworks/core/text/registry.py): a new row, or a new parameter, needs no
new form."""

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from django import forms
from django.forms.utils import pretty_name
from django.utils.translation import gettext, gettext_lazy

from foilworks.core.projects.number_fields import FloatField, IntegerField
from foilworks.core.text.registry import Entry, Param, RegistryError, parse_params

# A message names its parameter in quotation marks, or begins with it: "batch: give a multiple of …".
NAMED = re.compile(r"(?:^|parameters? ')(\w+)")

WORD = re.compile(r"\w+")


class Labelled(Protocol):
    """A row of a table, which a menu shows."""

    @property
    def label(self) -> str: ...


def choices_of(table: Mapping[str, Labelled]) -> list[tuple[str, Any]]:
    """Return (slug, label) of each row, for a form; the labels are translated when they are shown."""
    return [(slug, gettext_lazy(row.label)) for slug, row in table.items()]


def param_label(param: Param) -> str:
    """Return "Max words" for "max_words": the name stays recognisable, since commands and provenance use it."""
    return pretty_name(param.name)


def as_sentence(words: str) -> str:
    """Return a help text as a sentence for a page, unless it begins with a choice, as in "any: every number"."""
    if words.partition(" ")[0].endswith(":") or not words:
        return words
    return f"{words[0].upper()}{words[1:]}" + ("" if words.endswith((".", ")")) else ".")


def param_field(param: Param) -> forms.Field:
    """A form field for one parameter of a table's row; empty means its default."""
    label, help_text = gettext(param_label(param)), as_sentence(gettext(param.help))
    shared: dict[str, Any] = {"label": label, "help_text": help_text, "required": False, "initial": param.default}
    if param.kind == "bool":
        return forms.BooleanField(**shared)
    if param.kind == "choice":
        # They are typed in commands as they are here.
        names = forms.Select(attrs={"translate": "no"})
        return forms.ChoiceField(**shared, choices=[(choice, choice) for choice in param.choices], widget=names)
    if param.kind == "int":
        return IntegerField(**shared)
    if param.kind == "float":
        return FloatField(**shared)
    if param.kind == "json":
        shared["initial"] = json.dumps(param.default, ensure_ascii=False)
    return forms.CharField(**shared, strip=False)


class EntryForm(forms.Form):
    """The parameters of one row; `values()` gives them converted, defaults filled in."""

    def __init__(self, entry: Entry, data: Mapping[str, Any] | None = None, *, prefix: str) -> None:
        super().__init__(data, prefix=prefix)
        self.entry = entry
        self.fields.update({param.name: param_field(param) for param in entry.params})

    def clean(self) -> dict[str, Any]:
        param_names = {param.name for param in self.entry.params}
        values = {
            name: value for name, value in self.cleaned_data.items() if name in param_names and value not in (None, "")
        }
        try:
            self.converted = parse_params(self.entry, values)
        except RegistryError as error:
            self.add_problem(error)
        return self.cleaned_data

    def add_problem(self, error: Exception, field: str | None = None) -> None:
        """Add what is wrong to the field that the message names; else to `field`, or to the form."""
        message = str(error)
        names = [name for name in (*NAMED.findall(message), *WORD.findall(message)) if name in self.fields]
        self.add_error(names[0] if names else field, message)

    def begin_with(self, values: Mapping[str, Any]) -> None:
        """These values are in the fields at first; what the row does not take is passed over."""
        for param in self.entry.params:
            if param.name in values:
                value = values[param.name]
                self.initial[param.name] = json.dumps(value, ensure_ascii=False) if param.kind == "json" else value

    def values(self) -> dict[str, Any]:
        return self.converted
