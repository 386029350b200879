"""Forms of runs, caption runs, budgets and hints. Their fields come from the registries."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Split, Subtest
from generation.asking.forms import check_asking, offer_choices
from generation.captioning.registry import CAPTIONERS
from generation.filters.registry import FILTERS, default_filters, needs_weights
from generation.methods.registry import METHODS
from generation.models import GenerationRun
from generation.models.side_work import CaptionSources
from jobs.models import JobState
from projects.forms.registry_entry import EntryForm, choices_of
from projects.listing.filters import Filters
from projects.listing.keyset import Order
from projects.models import Project
from text.registry import Entry

MODES = [
    ("corrected", _("corrected: with documented deviations from the paper")),
    ("paper", _("paper: as published")),
]
MAX_SEED = 2**31 - 1
# No default: no method suits every project.
_NO_METHOD = Entry("", "")


class FilterRow(NamedTuple):
    """One filter of the form. `weights`: "model", "vectors" or "", whichever it needs."""

    slug: str
    label: str
    params: EntryForm
    chosen: bool
    weights: str


CANDIDATE_ORDERS = (Order("caption", _("Caption"), ("group", "rank", "pk")),)
RUN_ORDERS = (Order("newest", _("Newest"), ("pk",), descending=True),)


class RunFilter(Filters):
    """What filters the list of runs; a value that is not a choice filters nothing."""

    chips = ("state",)
    state = forms.ChoiceField(
        label=_("State"),
        required=False,
        choices=[("", _("All")), *[(s.value, _(s.value)) for s in JobState if s != JobState.SPREAD]],
        widget=forms.RadioSelect,
    )

    def __init__(self, data: Mapping[str, str]) -> None:
        super().__init__({"state": data.get("state", "")})


class RunForm(forms.Form):
    """The form of a new run: method, subtest, mode, seed, captions. Method and filters have their own parameter forms.

    `like`: a run whose settings are the initial values.
    """

    method = forms.ChoiceField(label=_("Method"), choices=[("", _("Choose a method")), *choices_of(METHODS)])
    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Subtest"), empty_label=None)
    mode = forms.ChoiceField(label=_("Mode"), choices=MODES, widget=forms.RadioSelect, initial="corrected")
    split = forms.ChoiceField(
        label=_("Captions"),
        required=False,
        choices=[("", _("all videos")), *[(value, value) for value, _label in Split.choices if value]],
        help_text=_("Generate foils only for captions of this split."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        help_text=_("The same seed produces the same foils."),
    )
    filters = forms.MultipleChoiceField(
        label=_("Filters"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=choices_of(FILTERS),
    )

    def __init__(
        self,
        project: Project,
        data: Mapping[str, Any] | None = None,
        *,
        method: str = "",
        like: GenerationRun | None = None,
    ) -> None:
        wanted = (data or {}).get("method") or method or (like.method if like else "")
        self.method_slug = wanted if wanted in METHODS else ""
        super().__init__(data, initial={"method": self.method_slug})
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)
        self.fields["filters"].initial = list(default_filters(self.method_slug))
        # Chosen without JavaScript, or before the page showed the parameters: show them now.
        self.seen = (data or {}).get("seen", self.method_slug)
        unseen = self.seen != self.method_slug
        entry = METHODS.get(self.method_slug, _NO_METHOD)
        self.params = EntryForm(entry, None if unseen else data, prefix="method")
        offer_choices(self.params, project, makes="foils")
        self.filter_params = {slug: EntryForm(entry, data, prefix=slug) for slug, entry in FILTERS.items()}
        if like is not None:
            self._begin_like(like)

    def _begin_like(self, run: GenerationRun) -> None:
        self.initial |= {"subtest": run.subtest_id, "seed": run.seed, "mode": run.mode}
        self.initial["split"] = run.selection.get("split", "")
        if run.method != self.method_slug:
            return
        self.params.begin_with(run.params)
        chosen = {row["slug"]: row.get("params", {}) for row in run.filters if row["slug"] in FILTERS}
        self.initial["filters"] = list(chosen)
        for slug, params in chosen.items():
            self.filter_params[slug].begin_with(params)

    def is_valid(self) -> bool:
        """Validate the method, whose parameters must have been shown, and only the filters that are chosen."""
        valid = super().is_valid() and self.params.is_valid() and check_asking(self.params)
        chosen = self.cleaned_data.get("filters", []) if self.is_bound else []
        wrong = [slug for slug in chosen if not self.filter_params[slug].is_valid()]
        return valid and not wrong

    def filter_rows(self) -> list[FilterRow]:
        chosen = set(self["filters"].value() or [])
        if self.seen != self.method_slug and chosen == set(default_filters(self.seen)):
            chosen = set(default_filters(self.method_slug))
        return [
            FilterRow(slug, FILTERS[slug].label, form, slug in chosen, needs_weights(FILTERS[slug]))
            for slug, form in self.filter_params.items()
        ]

    def chosen_rows(self) -> list[FilterRow]:
        return [row for row in self.filter_rows() if row.chosen]

    def more_rows(self) -> list[FilterRow]:
        """Return the filters that are not chosen, filters without a model first."""
        return sorted((row for row in self.filter_rows() if not row.chosen), key=lambda row: bool(row.weights))

    def chosen_filters(self) -> dict[str, dict[str, Any]]:
        return {slug: self.filter_params[slug].values() for slug in self.cleaned_data["filters"]}

    def selection(self) -> dict[str, str]:
        split = self.cleaned_data["split"]
        return {"split": split} if split else {}


class CaptionForm(forms.Form):
    """The form of a caption run: maker and sources. The maker has its own parameter form."""

    maker = forms.ChoiceField(label=_("Caption maker"), choices=choices_of(CAPTIONERS))
    sources = forms.ChoiceField(
        label=_("Sources"), choices=CaptionSources.choices, widget=forms.RadioSelect, initial=CaptionSources.CAPTIONS
    )
    mode = forms.ChoiceField(label=_("Mode"), choices=MODES, widget=forms.RadioSelect, initial="corrected")
    split = forms.ChoiceField(
        label=_("Videos"),
        required=False,
        choices=[("", _("all")), *[(value, value) for value, _label in Split.choices if value]],
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0)

    def __init__(self, data: Mapping[str, Any] | None = None, *, maker: str = "") -> None:
        super().__init__(data)
        wanted = (data or {}).get("maker") or maker
        self.maker_slug = wanted if wanted in CAPTIONERS else next(iter(CAPTIONERS))
        self.seen = (data or {}).get("seen") or self.maker_slug
        unseen = self.seen != self.maker_slug
        self.params = EntryForm(CAPTIONERS[self.maker_slug], None if unseen else data, prefix="maker")
        offer_choices(self.params, None, makes="captions")

    def is_valid(self) -> bool:
        return super().is_valid() and self.params.is_valid() and check_asking(self.params)


class BudgetForm(forms.Form):
    """The new budget of a run, including what is already spent. Empty fields change nothing."""

    requests = forms.IntegerField(label=_("Max requests"), min_value=0, required=False)
    tokens = forms.IntegerField(label=_("Max tokens"), min_value=0, required=False)

    def given(self) -> dict[str, int]:
        return {name: value for name, value in self.cleaned_data.items() if value is not None}


class HintForm(forms.Form):
    spec = forms.CharField(
        label=_("Model"),
        max_length=500,
        help_text=_(
            "SLUG:ARGUMENT, as for a scoring run. A language model (lm:…) scores how likely the sentence "
            "is. A video model such as clip:… scores how well it fits the video."
        ),
    )
    enabled = forms.BooleanField(label=_("Let annotators request hints"), required=False)
