"""Forms of runs, caption runs and budgets. Their fields come from the registries."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Split, Subtest
from foilworks.core.jobs.models import JobState
from foilworks.core.projects.forms.registry_entry import EntryForm, choices_of
from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import IntegerField
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.registry import Entry, parse_params
from generation.captioning.registry import CAPTIONERS
from generation.default_filters import default_filters
from generation.filter_presets import papers_of, presets_of
from generation.filters.registry import FILTERS, needs_weights
from generation.instruction_models.forms import check_asking, offer_choices
from generation.methods.registry import METHODS
from generation.model_paths import with_paths
from generation.model_presence import check_named
from generation.models import GenerationRun
from generation.models.side_work import CaptionSources
from generation.parameter_checks import check_parameters, named_filter, named_parameter
from generation.run_request import FoilRequest

# What a method needs, in one word for the gallery.
KINDS = {
    "rule": _("Rule"),
    "model": _("Language model"),
    "endpoint": _("Instruction model"),
    "people": _("People"),
}
MODES = [
    ("corrected", _("corrected: with fixes for problems of the paper's method")),
    ("paper", _("paper: exactly as published")),
]
MAX_SEED = 2**31 - 1
Made = TypeVar("Made")
# Of a row that names none of its own.
MAIN_OF_PLUGINS = 3
# No default: no method suits every project.
_NO_METHOD = Entry("")


class MethodRow(NamedTuple):
    """One method of the gallery. `example`: its foil as a difference from the caption."""

    slug: str
    entry: Entry
    kind: Any
    example: list[tuple[str, str]]
    papers: str
    is_selected: bool


class PresetRow(NamedTuple):
    slug: str
    label: str
    is_selected: bool


class FilterRow(NamedTuple):
    """One filter of the form. `weights`: "model", "vectors" or "", whichever it needs."""

    slug: str
    label: str
    params: EntryForm
    is_selected: bool
    weights: str


CANDIDATE_ORDERS = (Order("caption", _("Caption"), ("group", "rank", "pk")),)
RUN_ORDERS = (Order("newest", _("Newest"), ("pk",), descending=True),)


class ModelField(forms.CharField):
    """The name of a model; one that is known to be absent is refused before a job starts."""

    def clean(self, value: Any) -> str:
        spec: str = super().clean(value)
        try:
            check_named(spec)
        except ActionableError as error:
            raise forms.ValidationError(str(error)) from error
        return spec


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

    `like`: a run whose settings are the initial values. `preset`: the filters to begin with. `kept`: what was chosen
    before the method changed.
    """

    method = forms.ChoiceField(label=_("Method"), choices=[("", _("Choose a method")), *choices_of(METHODS)])
    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Subtest"), empty_label=None)
    mode = forms.ChoiceField(label=_("Mode"), choices=MODES, widget=forms.RadioSelect, initial="corrected")
    split = forms.ChoiceField(
        label=_("Dataset split"),
        required=False,
        choices=[("", _("all splits")), *[(value, value) for value, _label in Split.choices if value]],
        help_text=_("Foils are generated only for captions in this split."),
    )
    limit = IntegerField(
        label=_("Max captions"),
        required=False,
        min_value=1,
        help_text=_("For a trial, enter a small number such as 5. Empty: all captions."),
    )
    without_foil = forms.BooleanField(
        label=_("Only captions without a foil in this subtest"),
        required=False,
        help_text=_("Leaves out captions whose foil waits for people or is accepted."),
    )
    seed = IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        help_text=_("The same settings and seed produce the same foils."),
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
        preset: str = "",
        stored_values: Mapping[str, Any] | None = None,
    ) -> None:
        method_slug = (data or {}).get("method") or method or (like.method if like else "")
        self.method_slug = method_slug if method_slug in METHODS else ""
        initial_values = (
            {name: stored_values[name] for name in ("mode", "seed") if name in stored_values} if stored_values else {}
        )
        super().__init__(data, initial={**initial_values, "method": self.method_slug})
        self.project = project
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
        if preset:
            self._begin_with_preset(preset)

    def _begin_like(self, run: GenerationRun) -> None:
        self.initial |= {"subtest": run.subtest_id, "seed": run.seed, "mode": run.mode}
        self.initial["split"] = run.selection.get("split", "")
        self.initial["limit"] = run.selection.get("limit")
        self.initial["without_foil"] = run.selection.get("without_foil", False)
        if run.method != self.method_slug:
            return
        self.params.begin_with(run.params)
        self._begin_with_filters({row["slug"]: row.get("params", {}) for row in run.filters if row["slug"] in FILTERS})

    def _begin_with_preset(self, slug: str) -> None:
        for preset in presets_of(self.method_slug, self["mode"].value()):
            if preset.slug == slug:
                self._begin_with_filters(preset.filters)

    def _begin_with_filters(self, filter_settings: Mapping[str, Mapping[str, Any]]) -> None:
        self.initial["filters"] = list(filter_settings)
        for slug, params in filter_settings.items():
            self.filter_params[slug].begin_with(params)

    def is_valid(self) -> bool:
        """Validate the method, whose parameters must have been shown, and only the filters that are chosen."""
        valid = super().is_valid() and self.params.is_valid() and check_asking(self.params)
        valid = valid and self._check_parameters()
        selected_slugs = self.cleaned_data.get("filters", []) if self.is_bound else []
        invalid_slugs = [slug for slug in selected_slugs if not self.filter_params[slug].is_valid()]
        return valid and not invalid_slugs

    def _check_parameters(self) -> bool:
        """Return whether the method accepts its parameters; if not, the error is at the field that it names."""
        params = self.params.values()
        try:
            check_parameters(self.method_slug, params)
        except ActionableError as error:
            self.add_problem(error)
            return False
        for name, value in params.items():
            try:
                with_paths({name: value}, owner=self.project)
            except ActionableError as error:
                self.params.add_error(name, str(error))
        return not self.params.errors

    def attempt(self, action: Callable[..., Made], *args: Any) -> Made | None:
        """Call `action` with the request of a valid form; what it refuses appears in the form."""
        try:
            return action(*args, self.run_request())
        except ActionableError as error:
            self.add_problem(error)
            return None

    def add_problem(self, error: ActionableError) -> None:
        """Add what is wrong with a run to the parameter that the message names, or to the form.

        The fields of a filter are closed at first, so its problem is at the top of the form as well.
        """
        message = str(error)
        parameter = named_parameter(message)
        of_filter = self.filter_params.get(named_filter(message) or "")
        if of_filter is not None and parameter in of_filter.fields:
            of_filter.add_error(parameter, message.partition(": ")[2])
            self.add_error(None, message)
        elif parameter in self.params.fields:
            # The field says itself which parameter it is.
            self.params.add_error(parameter, message.removeprefix(f"parameter '{parameter}': "))
        elif "tagger" in message and "tagger" in self.params.fields:
            self.params.add_error("tagger", message)
        else:
            self.add_error(None, message)

    def gallery(self) -> list[MethodRow]:
        """Return every method with its example."""
        return [
            MethodRow(
                slug,
                entry,
                KINDS.get(entry.kind, _("Plug-in")),
                diff_segments(*entry.example) if entry.example else [],
                papers_of(slug),
                slug == self.method_slug,
            )
            for slug, entry in METHODS.items()
        ]

    def main_fields(self) -> list[BoundField]:
        """Return the parameters that most runs set."""
        return [self.params[name] for name in self._main_names()]

    def advanced_fields(self) -> list[BoundField]:
        main = self._main_names()
        return [field for field in self.params if field.name not in main]

    def _main_names(self) -> Sequence[str]:
        entry = self.params.entry
        return entry.main if entry.kind else [param.name for param in entry.params[:MAIN_OF_PLUGINS]]

    def has_advanced_errors(self) -> bool:
        return bool(self["mode"].errors or self["seed"].errors or any(f.errors for f in self.advanced_fields()))

    def preset_rows(self) -> list[PresetRow]:
        """Return the choices of filters; the one that equals the chosen filters is marked."""
        selected_filters = {row.slug: self._filter_values(row.slug) for row in self.chosen_rows()}
        mode = self["mode"].value()
        return [
            PresetRow(
                preset.slug,
                preset.label,
                selected_filters
                == {slug: parse_params(FILTERS[slug], params) for slug, params in preset.filters.items()},
            )
            for preset in presets_of(self.method_slug, mode if mode in dict(MODES) else "corrected")
        ]

    def _filter_values(self, slug: str) -> dict[str, Any] | None:
        """Return the values of a filter's fields; None if they are invalid."""
        form = self.filter_params[slug]
        if form.is_bound:
            return form.values() if form.is_valid() else None
        return {param.name: form.initial.get(param.name, param.default) for param in form.entry.params}

    def has_filter_errors(self) -> bool:
        return any(self.filter_params[row.slug].errors for row in self.chosen_rows() if self.is_bound)

    def filter_rows(self) -> list[FilterRow]:
        selected_slugs = set(self["filters"].value() or [])
        if self.seen != self.method_slug and selected_slugs == set(default_filters(self.seen)):
            selected_slugs = set(default_filters(self.method_slug))
        return [
            FilterRow(slug, FILTERS[slug].label, form, slug in selected_slugs, needs_weights(FILTERS[slug]))
            for slug, form in self.filter_params.items()
        ]

    def chosen_rows(self) -> list[FilterRow]:
        return [row for row in self.filter_rows() if row.is_selected]

    def more_rows(self) -> list[FilterRow]:
        """Return the filters that are not chosen, filters without a model first."""
        return sorted((row for row in self.filter_rows() if not row.is_selected), key=lambda row: bool(row.weights))

    def chosen_filters(self) -> dict[str, dict[str, Any]]:
        return {slug: self.filter_params[slug].values() for slug in self.cleaned_data["filters"]}

    def selection(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("split", "limit", "without_foil") if self.cleaned_data[name]}

    def run_request(self) -> FoilRequest:
        """Return what a valid form asks for."""
        return FoilRequest(
            **{name: self.cleaned_data[name] for name in ("subtest", "method", "mode", "seed")},
            params=self.params.values(),
            filters=self.chosen_filters(),
            selection=self.selection(),
        )


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
    seed = IntegerField(label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0)

    def __init__(self, data: Mapping[str, Any] | None = None, *, maker: str = "") -> None:
        super().__init__(data)
        maker_slug = (data or {}).get("maker") or maker
        self.maker_slug = maker_slug if maker_slug in CAPTIONERS else next(iter(CAPTIONERS))
        self.seen = (data or {}).get("seen") or self.maker_slug
        unseen = self.seen != self.maker_slug
        self.params = EntryForm(CAPTIONERS[self.maker_slug], None if unseen else data, prefix="maker")
        offer_choices(self.params, None, makes="captions")

    def is_valid(self) -> bool:
        return super().is_valid() and self.params.is_valid() and check_asking(self.params)


class BudgetForm(forms.Form):
    """The new budget of a run, including what is already spent. Empty fields change nothing."""

    requests = IntegerField(label=_("Max requests"), min_value=0, required=False)
    tokens = IntegerField(label=_("Max tokens"), min_value=0, required=False)

    def new_limits(self) -> dict[str, int]:
        return {name: value for name, value in self.cleaned_data.items() if value is not None}
