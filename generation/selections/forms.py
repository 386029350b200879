"""The form of a new selection."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Subtest
from generation.filters.registry import FILTERS
from generation.forms import MAX_SEED
from generation.models import GenerationRun, Selection
from generation.selections.open_candidates import GAPS
from projects.forms.registry_entry import choices_of
from projects.models import Project

KINDS = [
    (Selection.Kind.BALANCE, _("Balanced selection: every word is replaced as often as it is put in")),
    (Selection.Kind.FREQUENCY, _("Frequency matching (ViLMA): no word is put in more often than it is replaced")),
    (Selection.Kind.ADVERSARIAL, _("Adversarial refinement (SugarCrepe): two scores prefer caption and foil equally")),
]


class SelectionForm(forms.Form):
    kind = forms.ChoiceField(label=_("How"), choices=KINDS, widget=forms.RadioSelect, initial=Selection.Kind.BALANCE)
    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Subtest"), empty_label=None)
    run = forms.ModelChoiceField(
        GenerationRun.objects.none(),
        label=_("Run"),
        required=False,
        empty_label=_("all runs of the subtest"),
        help_text=_("What other runs have is counted either way where somebody has begun with it."),
    )
    gaps = forms.MultipleChoiceField(
        label=_("Two gaps"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=choices_of({slug: FILTERS[slug] for slug in GAPS}),
        initial=GAPS[:2],
        help_text=_("Of adversarial refinement: filters that the runs have scored."),
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0)

    def __init__(self, project: Project, data: Mapping[str, Any] | None = None, **initial: Any) -> None:
        super().__init__(data, initial=initial)
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)
        runs = GenerationRun.objects.filter(project=project).select_related("subtest").order_by("-id")
        self.fields["run"].queryset = runs
        self.fields["run"].label_from_instance = lambda run: f"#{run.pk} {run.method} ({run.subtest.name})"

    def clean(self) -> dict[str, Any]:
        run, subtest = self.cleaned_data.get("run"), self.cleaned_data.get("subtest")
        if run and subtest and run.subtest_id != subtest.pk:
            self.add_error("run", _("This run is of another subtest."))
        return self.cleaned_data
