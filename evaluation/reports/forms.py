"""Define the form of a report: its items and parameters."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.analyses.registry import REPORTS
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.models import Project

# Labels that say more than the names, which are those of the command.
LABELS = {
    "coding": _("Coding of answers"),
    "max_loss": _("Max. share of valid foils lost"),
    "respondents": _("Respondents"),
}


class ReportForm(EntryForm):
    """The parameters of a report: a subtest, and those of its row. Invalid values fall back to the defaults."""

    def __init__(self, project: Project, kind: str, data: Mapping[str, Any]) -> None:
        entry = REPORTS[kind]
        values = {param.name: data.get(param.name, param.default) for param in entry.params}
        super().__init__(entry, {**values, "subtest": data.get("subtest", "")}, prefix="")
        names = list(Subtest.objects.filter(project=project).values_list("name", flat=True))
        everything = [("", _("all main items")), *[(name, name) for name in names]]
        for param in entry.params:
            self.fields[param.name].label = LABELS.get(param.name, self.fields[param.name].label)
        self.fields = {
            "subtest": forms.ChoiceField(label=_("Items"), choices=everything, required=False),
            **self.fields,
        }
        self.is_valid()

    def chosen(self) -> tuple[str, dict[str, Any]]:
        """Return (subtest or empty, parameters)."""
        usual = {param.name: param.default for param in self.entry.params}
        filled_values = {
            name: value for name, value in self.cleaned_data.items() if name in usual and value not in (None, "")
        }
        # A zero is a choice if it is not the default.
        changed_values = {name: value for name, value in filled_values.items() if value or value != usual[name]}
        return self.cleaned_data.get("subtest", ""), changed_values

    def query(self) -> str:
        """Return the choices for the links of charts and downloads."""
        subtest, params = self.chosen()
        return urlencode({**({"subtest": subtest} if subtest else {}), **params})
