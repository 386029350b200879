"""The form of the page that composes multiple-choice items."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.choices.actions.compose_choices import MAX_SEED, Request
from annotation.choices.composition_sources import RUN
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import IntegerField
from generation.method_names import method_label
from generation.models import GenerationRun

MAX_RUNS = 100
RUN_CHOICE = _("Run %(number)s: %(method)s, %(subtest)s")


class ComposeForm(forms.Form):
    """Choose the subtest of the new items, and where their random captions and hard foils come from."""

    subtest = forms.ModelChoiceField(
        label=_("Subtest of the new items"),
        queryset=Subtest.objects.none(),
        empty_label=None,
        help_text=_("Its number of foils per item is the number of wrong captions: 4 for the contrast sets."),
    )
    random = forms.ChoiceField(
        label=_("Random captions"),
        help_text=_("A subtest of Random items, generated or imported, or a run of the method for random captions."),
    )
    hard = forms.ChoiceField(
        label=_("Hard foils"),
        required=False,
        help_text=_("Each hard foil replaces one random caption of the same caption's Random item."),
    )
    seed = IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        help_text=_("With the same seed, all subtests keep the same random captions."),
    )
    limit = IntegerField(label=_("Max items"), required=False, min_value=1)
    unreviewed = forms.BooleanField(
        label=_("Include candidates that nobody has reviewed"),
        required=False,
        help_text=_("They passed the filters of their run. A release marks them."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        subtests = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("name")
        self.fields["subtest"].queryset = subtests  # type: ignore[attr-defined]
        names = [(name, name) for name in subtests.values_list("name", flat=True)]
        sources = [(gettext("Subtests"), names), (gettext("Runs"), _runs(project))]
        self.fields["random"].choices = sources  # type: ignore[attr-defined]
        self.fields["hard"].choices = [("", gettext("None: random captions only")), *sources]  # type: ignore[attr-defined]

    def request(self) -> Request:
        """Return the valid form as a request."""
        return Request(**{name: value for name, value in self.cleaned_data.items() if name != "subtest"})


def _runs(project: Project) -> list[tuple[str, str]]:
    rows = GenerationRun.objects.filter(project=project).select_related("subtest").order_by("-pk")[:MAX_RUNS]
    return [
        (
            f"{RUN}{run.pk}",
            RUN_CHOICE % {"number": run.pk, "method": method_label(run.method), "subtest": run.subtest.name},
        )
        for run in rows
    ]
