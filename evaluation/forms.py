"""Forms of reports, releases and scoring runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from corpus.models import Subtest
from evaluation.actions.measure_proximity import LONGEST_MODEL, LONGEST_NAME
from evaluation.actions.start_run import ADAPTERS, DEVICE, LONGEST_LABEL, LONGEST_SPEC, SCORE_FILE
from evaluation.analyses.table import REPORTS
from evaluation.files.score_readers import AUTO, FORMS
from evaluation.scoring.protocols import PROTOCOLS
from projects.entry_form import EntryForm
from projects.models import Project
from text.registry import load


class ReportForm(EntryForm):
    """What a report is asked with: a subtest, and the parameters of its row. What makes no sense falls to defaults."""

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
        """(subtest or empty, parameters)."""
        own = {param.name for param in self.entry.params}
        return self.cleaned_data.get("subtest", ""), {k: v for k, v in self.cleaned_data.items() if k in own and v}

    def query(self) -> str:
        """The choices for the links of charts and downloads."""
        subtest, params = self.chosen()
        return urlencode({**({"subtest": subtest} if subtest else {}), **params})


class FreezeForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), required=False, max_length=120, help_text=_("Left empty, releases are numbered.")
    )
    balance = forms.MultipleChoiceField(
        label=_("Balance: leave items out until no word tells"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They stay valid, and are not in this release."),
    )
    override = forms.CharField(
        label=_("Why it may be released all the same"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Stands with your pseudonym in the audit trail and in the datasheet of every export."),
    )

    def __init__(self, data: Any = None, *, gate: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        offers = [each for each in gate["offers"] if each.feasible] if gate else []
        self.fields["balance"].choices = [
            (each.name, f"{each.name}: {each.n_kept} / {each.n} ({each.share:.0%})") for each in offers
        ]
        if not offers:
            del self.fields["balance"]
        if not (gate and gate["stopped"]):
            del self.fields["override"]


class ScoringForm(forms.Form):
    """A model to score a release with; the action says what is wrong with it."""

    spec = forms.CharField(
        label=_("Model"),
        max_length=LONGEST_SPEC,
        help_text=_("Its kind, a colon, its name: such as clip:openai/clip-vit-base-patch32."),
    )
    label = forms.CharField(label=_("Called"), required=False, max_length=LONGEST_LABEL)
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=[(slug, p.label) for slug, p in PROTOCOLS.items()],
        help_text=_(
            "Which frames a model sees, how a tie counts, which items count; those of ViLMA repeat that paper."
        ),
    )
    control = forms.BooleanField(
        label=_("Retrieval control"),
        required=False,
        help_text=_("Also ranks each caption among 5 captions of other videos, beside its rank among its foils."),
    )
    device = forms.RegexField(DEVICE, label=_("Device"), initial="auto", help_text=_("auto, cpu, cuda or cuda:N"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["spec"].widget.attrs["list"] = "models"

    def clean_spec(self) -> str:
        spec: str = self.cleaned_data["spec"]
        kind, colon, _name = spec.partition(":")
        if not colon or kind not in {*load(ADAPTERS), SCORE_FILE}:
            problem = _("“%(spec)s” names no model; begin with its kind, as in clip:openai/clip-vit-base-patch32.")
            raise forms.ValidationError(problem % {"spec": spec[:80]})
        return spec

    def kinds(self) -> list[tuple[str, list[str]]]:
        """(label, its summary cut at the code in it: every second piece is code) of what can be scored with."""
        return [(entry.label, entry.summary.split("`")) for entry in load(ADAPTERS).values()]

    def suggestions(self) -> list[str]:
        """What the home's folder of models holds, as it would be typed, and the fake."""
        root = Path(settings.MODEL_ROOT)
        folders = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
        return [*(f"tiny:{folder}" for folder in folders), "fake:"]


class ProximityForm(forms.Form):
    """An encoder to measure meaning with; the action says what is wrong with it."""

    model = forms.CharField(
        label=_("Encoder"),
        max_length=LONGEST_MODEL,
        initial="sentence-transformers/all-MiniLM-L6-v2",
        help_text=_("A sentence-transformers hub id or folder; clip: before a CLIP model for its text side."),
    )
    name = forms.CharField(
        label=_("Called"), required=False, max_length=LONGEST_NAME, help_text=_("As tables name it, such as SBERT.")
    )
    device = forms.RegexField(DEVICE, label=_("Device"), initial="auto", help_text=_("auto, cpu, cuda or cuda:N"))


class BringScoresForm(forms.Form):
    """Scores of a model that ran elsewhere."""

    scores = forms.FileField(label=_("File of scores"), max_length=255)
    form = forms.ChoiceField(label=_("Its form"), choices=list(FORMS.items()), required=False, initial=AUTO)
    proficiency = forms.FileField(
        label=_("Scores of the proficiency items"),
        required=False,
        max_length=255,
        help_text=_("ViLMA's second file, matched by id; leave it out where the first holds both."),
    )
    label = forms.CharField(label=_("Called"), required=False, max_length=LONGEST_LABEL)
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=[(slug, p.label) for slug, p in PROTOCOLS.items()],
        help_text=_("How a tie counts, and which items count; those of ViLMA repeat that paper."),
    )

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or AUTO
