"""Define the forms of the blind audit: limits, and text-only models."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.blind.actions.set_limits import MAX_LIMIT, MIN_LIMIT
from evaluation.scoring.run_request import MAX_SPEC_LENGTH
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import FloatField
from generation.forms import ModelField


class BarsForm(forms.Form):
    """The limit of the project, and one field per main subtest for a different limit."""

    def __init__(self, project: Project, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        shared = {"min_value": MIN_LIMIT, "max_value": MAX_LIMIT, "step_size": 0.01}
        self.fields["bar"] = FloatField(label=_("All subtests"), initial=project.blind_bar, **shared)
        self.subtests = list(Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN))
        for row in self.subtests:
            field = FloatField(label=row.name, required=False, initial=row.blind_bar, **shared)
            field.widget.attrs["placeholder"] = project.blind_bar
            self.fields[f"subtest-{row.pk}"] = field

    def of_subtests(self) -> dict[int, float | None]:
        return {row.pk: self.cleaned_data[f"subtest-{row.pk}"] for row in self.subtests}


class BlindScorerForm(forms.Form):
    spec = ModelField(
        label=_("Text-only model"),
        max_length=MAX_SPEC_LENGTH,
        help_text=_("For example lm:openai-community/gpt2, or lm:FOLDER for a folder inside the models folder."),
    )
