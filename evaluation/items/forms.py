"""What narrows the list of items; a value that is no choice narrows nothing."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Subtest
from corpus.rules.states import ItemState, current_word
from evaluation.scoring.models import Run
from evaluation.utd.models import ItemCheck
from generation.methods.registry import METHODS
from generation.models import GenerationRun
from projects.models import Project

IMPORTED = "import"
STATES = [(state.value, _(state.value.replace("_", " "))) for state in ItemState]
ANSWERS = [("", _("right or wrong")), ("right", _("right")), ("wrong", _("wrong"))]


class ItemFilter(forms.Form):
    q = forms.CharField(label=_("Search"), required=False, max_length=200)
    subtest = forms.ChoiceField(label=_("Subtest"), required=False)
    state = forms.ChoiceField(label=_("State"), required=False, choices=[("", _("any state")), *STATES])
    method = forms.ChoiceField(label=_("Made by"), required=False)
    agreed = forms.ChoiceField(
        label=_("Votes"),
        required=False,
        choices=[("", _("any votes")), ("yes", _("unanimous")), ("no", _("majority, not unanimous"))],
    )
    run = forms.ChoiceField(label=_("Model"), required=False)
    answer = forms.ChoiceField(
        label=_("Answer"),
        required=False,
        choices=[("", _("right or wrong")), ("right", _("right")), ("wrong", _("wrong"))],
    )
    shortcut = forms.ChoiceField(
        label=_("Answered from"),
        required=False,
        choices=[("", _("anything")), ("objects", _("objects only")), ("frame", _("one frame only"))],
    )
    doubt = forms.BooleanField(label=_("Caption may be wrong"), required=False)

    def __init__(self, project: Project, data: Any) -> None:
        # Links from before 0.2.0 have the old word of a state.
        super().__init__({**dict(data.items()), "state": current_word(data.get("state", ""))})
        subtests = Subtest.objects.filter(project=project).values_list("pk", "name")
        self.fields["subtest"].choices = [("", _("any subtest")), *subtests]
        slugs = GenerationRun.objects.filter(project=project).order_by("method").values_list("method", flat=True)
        methods = [(slug, _(METHODS[slug].label) if slug in METHODS else slug) for slug in slugs.distinct()]
        self.fields["method"].choices = [("", _("any method")), *methods, (IMPORTED, _("imported with foils"))]
        runs = Run.objects.filter(release__project=project).exclude(model_key="").select_related("release")
        self.runs = {str(run.pk): run for run in runs}
        named = [(pk, f"{run.label} · {run.release.name}") for pk, run in self.runs.items()]
        self.fields["run"].choices = [("", _("any model")), *named]
        if not ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=False).exists():
            del self.fields["shortcut"]
        if not named:
            del self.fields["run"], self.fields["answer"]

    def chosen(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}

    def query(self) -> str:
        """The chosen values for links of other pages: empty, or ending in `&`."""
        chosen = {name: "on" if value is True else value for name, value in self.chosen().items()}
        return f"{urlencode(chosen)}&" if chosen else ""
