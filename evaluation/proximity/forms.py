"""Define the form that measures semantic proximity."""

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.proximity.actions.measure_proximity import MAX_MODEL_LENGTH, MAX_NAME_LENGTH
from evaluation.scoring.run_request import DEVICE
from generation.forms import ModelField


class ProximityForm(forms.Form):
    """An encoder to measure meaning with; the action reports what is wrong with it."""

    model = ModelField(
        label=_("Encoder"),
        max_length=MAX_MODEL_LENGTH,
        initial="sentence-transformers/all-MiniLM-L6-v2",
        help_text=_(
            "A sentence-transformers hub ID or folder. Add clip: in front to use the text encoder of a CLIP model."
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text=_("The name shown in tables, for example SBERT."),
    )
    device = forms.RegexField(DEVICE, label=_("Device"), initial="auto", help_text=_("auto, cpu, cuda or cuda:N"))
