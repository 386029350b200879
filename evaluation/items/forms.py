"""Define the filters of the list of items; an invalid value filters nothing."""

from typing import Any

from django import forms
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from evaluation.ladder.listing import Source, rung_choices, sources_of
from evaluation.ladder.wording import NEED_LABELS
from evaluation.scoring.models import Run
from evaluation.utd.models import ItemCheck
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import ItemState, current_word
from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.models import Project
from foilworks.core.projects.templatetags.wording import in_words
from generation.methods.registry import METHODS
from generation.models import GenerationRun

IMPORTED = "import"
STATES = [(state.value, lazy(in_words, str)(state.value)) for state in ItemState]
ANSWERS = [("", _("right or wrong")), ("right", _("right")), ("wrong", _("wrong"))]


class ItemFilter(Filters):
    chips = ("state", "doubt", "comments")
    q = forms.CharField(
        label=_("Search keys, captions and foils"),
        required=False,
        max_length=200,
        widget=forms.SearchInput(attrs={"placeholder": _("Search"), "data-hotkey": "/"}),
    )
    subtest = forms.ChoiceField(label=_("Subtest"), required=False)
    state = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("All")), *STATES], widget=forms.RadioSelect
    )
    method = forms.ChoiceField(label=_("Source of foils"), required=False)
    agreed = forms.ChoiceField(
        label=_("Votes"),
        required=False,
        choices=[("", _("any votes")), ("yes", _("all for the caption")), ("no", _("not all for the caption"))],
    )
    run = forms.ChoiceField(label=_("Model"), required=False)
    answer = forms.ChoiceField(
        label=_("Answer of the model"),
        required=False,
        choices=[("", _("right or wrong")), ("right", _("right")), ("wrong", _("wrong"))],
    )
    shortcut = forms.ChoiceField(
        label=_("Solved from"),
        required=False,
        choices=[("", _("any input")), ("objects", _("objects alone")), ("frame", _("one frame"))],
    )
    ladder = forms.ChoiceField(label=_("Evidence ladder of"), required=False)
    need = forms.ChoiceField(label=_("By that ladder, the item"), required=False)
    rung = forms.ChoiceField(label=_("At a rung"), required=False)
    doubt = forms.BooleanField(label=_("Caption may be wrong"), required=False)
    comments = forms.BooleanField(label=_("Unresolved comments"), required=False)

    def __init__(self, project: Project, data: Any, *, is_open: bool = False) -> None:
        # Links from before 0.3.0 have the old word of a state.
        super().__init__({**dict(data.items()), "state": current_word(data.get("state", ""))}, is_open=is_open)
        self.runs: dict[str, Run] = {}
        if self.needs("subtest"):
            subtests = Subtest.objects.filter(project=project).values_list("pk", "name")
            self.fields["subtest"].choices = [("", _("any subtest")), *subtests]
        if self.needs("method"):
            self.fields["method"].choices = [("", _("any method")), *_methods(project), (IMPORTED, _("imported"))]
        if self.needs("run"):
            runs = Run.objects.filter(release__project=project).exclude(model_key="").select_related("release")
            self.runs = {str(run.pk): run for run in runs}
            choices = [(pk, f"{run.label} · {run.release.name}") for pk, run in self.runs.items()]
            self.fields["run"].choices = [("", _("any model")), *choices]
            if not choices:
                del self.fields["run"], self.fields["answer"]
        self.ladders: dict[str, Source] = {}
        if self.needs("ladder"):
            self._add_ladders(project)
        if self.needs("shortcut"):
            checks = ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=False)
            if not checks.exists():
                del self.fields["shortcut"]

    def _add_ladders(self, project: Project) -> None:
        self.ladders = sources_of(project)
        if not self.ladders:
            del self.fields["ladder"], self.fields["need"], self.fields["rung"]
            return
        choices = [(value, source.label) for value, source in self.ladders.items()]
        self.fields["ladder"].choices = [("", _("no ladder")), *choices]
        self.fields["need"].choices = [("", _("needs anything")), *NEED_LABELS.items()]
        self.fields["rung"].choices = [("", _("any rung")), *rung_choices()]


def _methods(project: Project) -> list[tuple[str, Any]]:
    slugs = GenerationRun.objects.filter(project=project).order_by("method").values_list("method", flat=True)
    return [(slug, method_label(slug)) for slug in slugs.distinct()]


def method_label(slug: str) -> Any:
    """Return the name of a method; its slug if the method is no longer installed."""
    return _(METHODS[slug].label) if slug in METHODS else slug
