"""Define the form that imports open answers."""

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.scoring.forms import ColumnsField
from evaluation.scoring.run_request import MAX_LABEL_LENGTH, MAX_SPEC_LENGTH


class OpenAnswersForm(forms.Form):
    """A file of answers, and the model that judges them; the action reports what is wrong with it."""

    answers = forms.FileField(
        label=_("File of answers"),
        max_length=255,
        help_text=_("CSV or JSON: id, prediction, and the right answer unless the release has it."),
    )
    columns = ColumnsField()
    label = forms.CharField(label=_("Name"), required=False, max_length=MAX_LABEL_LENGTH)
    judge = forms.CharField(
        label=_("Judge"),
        required=False,
        max_length=MAX_SPEC_LENGTH,
        help_text=_("endpoint:NAME/MODEL, or chat:NAME of a local instruction model. Leave empty for no judge."),
    )
