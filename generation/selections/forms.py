"""The form of a new selection."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import IntegerField
from generation.filters.registry import FILTERS
from generation.forms import MAX_SEED
from generation.models import GenerationRun, Selection
from generation.selections.open_candidates import GAPS, GAPS_WANTED

KINDS = [
    (Selection.Kind.DRAW, _("Balanced draw: a fair coin decides which of two opposites is true")),
    (Selection.Kind.BALANCE, _("Balanced selection: each word is replaced as often as it is inserted")),
    (Selection.Kind.FREQUENCY, _("Frequency matching (ViLMA): no word is inserted more often than it is replaced")),
    (
        Selection.Kind.ADVERSARIAL,
        _("Adversarial refinement (SugarCrepe): two scores prefer the caption and the foil equally often"),
    ),
]


class SelectionForm(forms.Form):
    kind = forms.ChoiceField(label=_("Method"), choices=KINDS, widget=forms.RadioSelect, initial=Selection.Kind.DRAW)
    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Subtest"), empty_label=None)
    run = forms.ModelChoiceField(
        GenerationRun.objects.none(),
        label=_("Run"),
        required=False,
        empty_label=_("all runs of the subtest"),
        help_text=_("Foils of other runs that people have started on always count."),
    )
    gaps = forms.MultipleChoiceField(
        label=_("Two gaps"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=choices_of({slug: FILTERS[slug] for slug in GAPS}),
        initial=GAPS[:2],
        help_text=_("Only for adversarial refinement. Choose filters that scored the foils of the runs."),
    )
    seed = IntegerField(label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0)

    def __init__(self, project: Project, data: Mapping[str, Any] | None = None, **initial: Any) -> None:
        super().__init__(data, initial=initial)
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)
        runs = GenerationRun.objects.filter(project=project).select_related("subtest").order_by("-id")
        self.fields["run"].queryset = runs
        self.fields["run"].label_from_instance = lambda run: f"#{run.pk} {run.method} ({run.subtest.name})"

    def clean(self) -> dict[str, Any]:
        run, subtest = self.cleaned_data.get("run"), self.cleaned_data.get("subtest")
        if run and subtest and run.subtest_id != subtest.pk:
            self.add_error("run", _("This run belongs to another subtest. Choose a run of the selected subtest."))
        refines = self.cleaned_data.get("kind") == Selection.Kind.ADVERSARIAL
        if refines and len(self.cleaned_data.get("gaps", ())) != GAPS_WANTED and "gaps" not in self.errors:
            self.add_error("gaps", _("Adversarial refinement needs two different gaps. Choose two."))
        return self.cleaned_data
