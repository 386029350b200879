"""Define the forms of the leaderboard, the comparison of two models and model cards."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.board.comparison import OUTCOMES, Comparison, compare
from evaluation.board.leaderboard import Board, board
from evaluation.metrics.ranking import COLUMNS
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release


class BoardForm(forms.Form):
    """The column that ranks a board, and its items; bound to what is shown."""

    column = forms.ChoiceField(label=_("Ranked by"), choices=[(name, name) for name in COLUMNS])
    scope = forms.ChoiceField(label=_("Items"))

    def __init__(self, board: Board) -> None:
        super().__init__({"column": board.column, "scope": board.scope})
        self.fields["scope"].choices = board.scopes

    def query(self) -> str:
        return urlencode(self.data)


class CompareForm(forms.Form):
    """Two runs of one release, the metric, the items; invalid values fall back to the first choice."""

    a = forms.ModelChoiceField(label="A", queryset=Run.objects.none(), empty_label=None)
    b = forms.ModelChoiceField(label="B", queryset=Run.objects.none(), empty_label=None)
    column = forms.ChoiceField(label=_("Metric"), choices=[(name, name) for name in COLUMNS])
    scope = forms.ChoiceField(label=_("Items"))

    def __init__(self, release: Release, data: Mapping[str, Any]) -> None:
        best = board(release)
        rows = best.scored
        first = {"a": rows[0].run.pk, "b": rows[1].run.pk} if len(rows) > 1 else {}
        defaults = {"column": best.column, "scope": best.scope, **first}
        super().__init__({name: data.get(name) or value for name, value in defaults.items()})
        runs = Run.objects.filter(pk__in=[row.run.pk for row in rows]).select_related("job", "release__project")
        for name in ("a", "b"):
            self.fields[name].queryset = runs
            self.fields[name].label_from_instance = lambda run: f"{run.label} · {run.protocol}"
        self.fields["scope"].choices = best.scopes
        self.asked = data.get("show", "")

    def is_ready(self) -> bool:
        """Report whether there are two runs to compare."""
        return "a" in self.data and self.is_valid()

    def runs(self) -> tuple[Run, Run]:
        return self.cleaned_data["a"], self.cleaned_data["b"]

    def compared(self) -> Comparison:
        return compare(*self.runs(), self.cleaned_data["column"], self.cleaned_data["scope"])

    def show(self) -> str:
        """Return the outcome whose items are listed: the requested one, else the first that has any."""
        outcomes = self.compared().outcomes
        return self.asked if self.asked in outcomes else next((o for o in OUTCOMES if outcomes[o]), OUTCOMES[0])

    def query(self) -> str:
        return urlencode(self.data)
