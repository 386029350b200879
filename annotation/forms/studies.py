"""Forms that open the human baseline and object checks."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.actions.studies.open_baseline import MAX_OVERLAP
from annotation.actions.studies.open_object_check import MAX_FRAMES
from annotation.models import FrameObjects
from annotation.rules.objects import FRAMES
from corpus.models import Release, Subtest
from projects.models import Project

MAX_SEED = 2**31 - 1
SEED_HELP = _("The same seed draws the same sample.")


class SeedField(forms.IntegerField):
    """Left empty it is 0."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0, required=False, help_text=SEED_HELP
        )

    def clean(self, value: Any) -> int:
        return super().clean(value) or 0


class BaselineForm(forms.Form):
    """Which items, how many of them, how many people each."""

    release = forms.ModelChoiceField(
        label=_("Items of"), queryset=Release.objects.none(), required=False, empty_label=_("valid items as of now")
    )
    subtest = forms.ModelChoiceField(
        label=_("Subtest"), queryset=Subtest.objects.none(), required=False, empty_label=_("all main subtests")
    )
    size = forms.IntegerField(
        label=_("Items in the sample"), min_value=1, required=False, help_text=_("Empty: all of them.")
    )
    overlap = forms.IntegerField(
        label=_("People an item"),
        min_value=1,
        max_value=MAX_OVERLAP,
        initial=1,
        help_text=_("1: accuracy of single people (Feint6K); 3: also of their majority (contrast sets)."),
    )
    seed = SeedField()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["release"].queryset = Release.objects.filter(project=project)
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)


class ObjectCheckForm(forms.Form):
    """Whose objects, how many frames, how many people each."""

    source = forms.ChoiceField(label=_("Objects of"))
    size = forms.IntegerField(
        label=_("Frames in the sample"),
        min_value=1,
        max_value=MAX_FRAMES,
        initial=FRAMES,
        help_text=_("One frame each of so many videos (UTD: 100)."),
    )
    overlap = forms.IntegerField(label=_("People a frame"), min_value=1, max_value=MAX_OVERLAP, initial=1)
    seed = SeedField()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sources = FrameObjects.objects.filter(project=project).order_by("source").values_list("source", flat=True)
        self.fields["source"].choices = [(source, source) for source in sources.distinct()]
