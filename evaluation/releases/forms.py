"""Define the form that freezes a release."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.ladder.selection import Offer
from evaluation.ladder.wording import SELECTION_LABELS
from evaluation.releases.holdback import MOST
from foilworks.core.projects.number_fields import IntegerField


class FreezeForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), required=False, max_length=120, help_text=_("Leave empty to number the release automatically.")
    )
    needs = forms.ChoiceField(
        label=_("Items"),
        required=False,
        help_text=_("By the evidence ladder. The scores of the models that select the items are then optimistic."),
    )
    ladder_runs = forms.TypedMultipleChoiceField(
        label=_("Models"), required=False, coerce=int, widget=forms.MultipleHiddenInput
    )
    balance = forms.MultipleChoiceField(
        label=_("Balance: leave out items until no word gives the answer away"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("These items stay valid, but are not in this release."),
    )
    holdback = IntegerField(
        label=_("Private items (%)"),
        required=False,
        min_value=0,
        max_value=round(100 * MOST),
        help_text=_(
            "A random part that is withheld from exports, the public page and downloads. Models that run here are "
            "scored on both parts. A large difference suggests that a model has learnt the public items. Leave empty "
            "for no new private items."
        ),
    )
    override = forms.CharField(
        label=_("Reason to release anyway"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Shown with your pseudonym in the audit log and in the datasheet of every export."),
    )

    def clean_holdback(self) -> float:
        return (self.cleaned_data["holdback"] or 0) / 100

    def __init__(
        self,
        data: Any = None,
        *,
        gate: Mapping[str, Any] | None = None,
        ladder: Offer | None = None,
        by_job: bool = False,
    ) -> None:
        """Fit the fields to a preview. `by_job`: the gate of what is chosen is not known before the job ends."""
        super().__init__(data)
        if ladder and ladder.possible:
            self._add_needs(ladder)
        else:
            del self.fields["needs"], self.fields["ladder_runs"]
        offers = [row for row in gate["offers"] if row.feasible] if gate else []
        self.fields["balance"].choices = [
            (row.name, f"{row.name}: {row.n_kept} / {row.n} ({row.share:.0%})") for row in offers
        ]
        if not offers:
            del self.fields["balance"]
        if not (gate and gate["stopped"]) and not by_job:
            del self.fields["override"]

    def _add_needs(self, ladder: Offer) -> None:
        rows = ((need, SELECTION_LABELS[need], selection) for need, selection in ladder.possible.items())
        choices = [
            (need, f"{label}: {selection.n_kept} / {sum(row.n for row in selection.subtests)}")
            for need, label, selection in rows
        ]
        self.fields["needs"].choices = [("", _("all valid items")), *choices]
        self.fields["ladder_runs"].choices = [(run.pk, run.label) for run in ladder.runs]
        self.initial["ladder_runs"] = [run.pk for run in ladder.chosen]
