"""Define the form that adds the scores of one rung."""

from collections.abc import Collection
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.ladder.wording import RUNG_LABELS
from evaluation.score_files.score_readers import AUTO, FORMS
from evaluation.scoring.forms import RungsField
from evaluation.scoring.rungs import CONTROLS


class AddRungsForm(forms.Form):
    """Rungs and stress tests to add to a run; without any, the usual rungs."""

    rungs = RungsField()

    def __init__(self, *args: Any, scored: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("forms.MultipleChoiceField", self.fields["rungs"])
        field.choices = [(name, label) for name, label in field.choices if name not in scored]
        field.help_text = _("Without a choice, the usual rungs: no clip, another clip, frames, shuffled and reversed.")


class RungScoresForm(forms.Form):
    """Scores of the same items at one rung, by a model that ran elsewhere."""

    rung = forms.ChoiceField(label=_("Rung"), choices=[(rung.value, RUNG_LABELS[rung]) for rung in CONTROLS])
    scores = forms.FileField(label=_("Score file"), max_length=255)
    form = forms.ChoiceField(
        label=_("Format"), choices=[(slug, _(words)) for slug, words in FORMS.items()], required=False, initial=AUTO
    )

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or AUTO
