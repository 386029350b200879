"""Define the form of a report: its items and parameters."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Subtest
from evaluation.analyses.registry import REPORTS
from projects.forms.registry_entry import EntryForm
from projects.models import Project


class ReportForm(EntryForm):
    """The parameters of a report: a subtest, and those of its row. Invalid values fall back to the defaults."""

    def __init__(self, project: Project, kind: str, data: Mapping[str, Any]) -> None:
        entry = REPORTS[kind]
        given = {param.name: data.get(param.name, param.default) for param in entry.params}
        super().__init__(entry, {**given, "subtest": data.get("subtest", "")}, prefix="")
        names = list(Subtest.objects.filter(project=project).values_list("name", flat=True))
        everything = [("", _("all main items")), *[(name, name) for name in names]]
        self.fields = {
            "subtest": forms.ChoiceField(label=_("Items"), choices=everything, required=False),
            **self.fields,
        }
        self.is_valid()

    def chosen(self) -> tuple[str, dict[str, Any]]:
        """Return (subtest or empty, parameters)."""
        own = {param.name for param in self.entry.params}
        return self.cleaned_data.get("subtest", ""), {k: v for k, v in self.cleaned_data.items() if k in own and v}

    def query(self) -> str:
        """Return the choices for the links of charts and downloads."""
        subtest, params = self.chosen()
        return urlencode({**({"subtest": subtest} if subtest else {}), **params})
