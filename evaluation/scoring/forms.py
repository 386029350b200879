"""Define the forms of scoring runs, score files and model cards."""

from functools import cached_property
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evaluation.metrics.rungs import RUNGS
from evaluation.metrics.stress import STRESS
from evaluation.score_files.score_readers import AUTO, FORMS
from evaluation.score_files.tables import parse_columns
from evaluation.scoring.known_models import KnownModel, check_there, known_models
from evaluation.scoring.model_cards import FIELDS
from evaluation.scoring.models import ModelCard
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.run_request import BUDGET, DEVICE, MAX_LABEL_LENGTH, MAX_SPEC_LENGTH, checked_spec
from evaluation.scoring.rungs import CONTROLS
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ADAPTERS, CHATS, ENDPOINT, SCORE_FILE
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.projects.number_fields import FloatField, IntegerField
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.quoting import shortened


class ModelCardForm(forms.ModelForm):
    url = forms.URLField(
        label=_("URL"),
        max_length=500,
        required=False,
        assume_scheme="https",
        help_text=_("A page that describes the model."),
    )

    class Meta:
        model = ModelCard
        fields = FIELDS
        widgets = {"notes": forms.Textarea(attrs={"rows": 3})}


class BudgetForm(forms.Form):
    """Limits of a run through an endpoint; `budget` in the cleaned data has the limits that are set."""

    requests = IntegerField(
        label=_("Max requests"),
        required=False,
        min_value=1,
        help_text=_("Applies only to endpoints. Leave empty for no limit."),
    )
    tokens = IntegerField(label=_("Max tokens"), required=False, min_value=1, help_text=_("Input and output."))
    cost = FloatField(
        label=_("Max cost"), required=False, min_value=0, help_text=_("In the currency of the endpoint's prices.")
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        limits = {name: cleaned.pop(name, None) for name in BUDGET}
        return {**cleaned, "budget": {name: value for name, value in limits.items() if value}}


# Folded in the form.
OPTIONS = ("label", "control", "standard", "controls", "rungs", "device", *BUDGET)


class RungsField(forms.MultipleChoiceField):
    """Names of rungs and stress tests."""

    def __init__(self) -> None:
        labels = [(str(rung), RUNGS[rung].label) for rung in CONTROLS]
        labels += [(name, kind.label) for name, kind in STRESS.items()]
        super().__init__(
            label=_("Rungs and stress tests"),
            required=False,
            choices=[(name, _(label)) for name, label in labels],
            widget=forms.CheckboxSelectMultiple,
            help_text=_("Subtitles need a model that reads prompts, sound an endpoint, stress tests yes or no."),
        )


class ScoringForm(BudgetForm):
    """A model to score a release with; the action reports what is wrong with it."""

    field_order = ("spec", "label", "protocol", "control", "standard", "controls", "rungs", "device", *BUDGET)

    spec = forms.CharField(
        label=_("Model"),
        max_length=MAX_SPEC_LENGTH,
        help_text=_("KIND:NAME, for example clip:openai/clip-vit-base-patch32."),
    )
    label = forms.CharField(label=_("Name"), required=False, max_length=MAX_LABEL_LENGTH)
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=choices_of(PROTOCOLS),
        help_text=_("Which frames the model sees, how ties count, and which items count."),
    )
    control = forms.BooleanField(
        label=_("Retrieval control"),
        required=False,
        help_text=_("In addition, each caption is ranked among 5 captions of other videos."),
    )
    standard = forms.BooleanField(
        label=_("Standard retrieval"),
        required=False,
        help_text=_("In addition, each clip's caption is ranked among the captions of all clips (dual encoders only)."),
    )
    controls = forms.BooleanField(
        label=_("Controls"),
        required=False,
        help_text=_(
            "In addition, the model is scored without the clip, with another clip, with single frames, and with "
            "shuffled and reversed frames."
        ),
    )
    rungs = RungsField()
    device = forms.RegexField(DEVICE, label=_("Device"), initial="auto", help_text=_("auto, cpu, cuda or cuda:N"))

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release
        self.fields["spec"].widget.attrs["list"] = "models"

    def first_fields(self) -> list[forms.BoundField]:
        """Return the fields that each run needs."""
        return [field for field in self if field.name not in OPTIONS]

    def options(self) -> list[forms.BoundField]:
        """Return the fields whose defaults suit most runs."""
        return [field for field in self if field.name in OPTIONS]

    def has_wrong_option(self) -> bool:
        return any(field.errors for field in self.options())

    def clean_spec(self) -> str:
        spec: str = self.cleaned_data["spec"]
        kind, colon, _name = spec.partition(":")
        if not colon or kind not in {*ADAPTERS, SCORE_FILE, ENDPOINT}:
            problem = _("“%(spec)s” is not a model name. Start with the kind, as in clip:openai/clip-vit-base-patch32.")
            raise forms.ValidationError(problem % {"spec": shortened(spec)})
        try:
            check_there(*checked_spec(spec, self.release.project))
        except ActionableError as error:
            raise forms.ValidationError(str(error)) from error
        return spec

    def kinds(self) -> list[tuple[str, list[str]]]:
        """Return (label, its summary split at the code in it: every second part is code) of the kinds of models."""
        rows = [*ADAPTERS.values(), CHATS[ENDPOINT]]
        return [(gettext(row.label), gettext(row.summary).split("`")) for row in rows]

    @cached_property
    def suggestions(self) -> list[KnownModel]:
        """Return the models that this installation can score, as they would be typed."""
        return known_models(self.release)


class ColumnsField(forms.CharField):
    """`id=question_id, right=answer` as {role: column}."""

    def __init__(self) -> None:
        help_text = _("Only needed if the file uses other column names. Example: id=question_id, right=answer.")
        super().__init__(label=_("Columns"), required=False, max_length=MAX_SPEC_LENGTH, help_text=help_text)

    def clean(self, value: Any) -> dict[str, str]:
        try:
            return parse_columns(super().clean(value))
        except ActionableError as error:
            raise forms.ValidationError(str(error)) from error


class BringScoresForm(forms.Form):
    """Scores of a model that ran elsewhere."""

    scores = forms.FileField(label=_("Score file"), max_length=255)
    form = forms.ChoiceField(
        label=_("Format"),
        choices=[(slug, _(words)) for slug, words in FORMS.items()],
        required=False,
        initial=AUTO,
    )
    proficiency = forms.FileField(
        label=_("Proficiency scores"),
        required=False,
        max_length=255,
        help_text=_("The second ViLMA file, matched by ID. Leave empty if the first file contains both."),
    )
    columns = ColumnsField()
    label = forms.CharField(label=_("Name"), required=False, max_length=MAX_LABEL_LENGTH)
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=choices_of(PROTOCOLS),
        help_text=_("Sets how ties count and which items count. The ViLMA protocols reproduce that paper."),
    )

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or AUTO
