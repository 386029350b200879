"""Forms of crowd studies."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.models import Stage
from projects.models import CrowdStudy

MIN_SHARE, MAX_SHARE = 0, 100


class CrowdStudyForm(forms.ModelForm):
    stage = forms.ChoiceField(
        label=_("Work"), choices=[(stage.value, stage.label) for stage in Stage if stage in ROLE_OF_STAGE]
    )
    approval = forms.IntegerField(
        label=_("Least approval rate, per cent"),
        min_value=MIN_SHARE,
        max_value=MAX_SHARE,
        required=False,
        help_text=_(
            "Of what the platform signs, and of right answers on gold in this project; empty: nobody is refused for it."
        ),
    )

    completion_url = forms.URLField(
        label=_("Address to send people back to"),
        required=False,
        assume_scheme="https",
        help_text=_("Shown beside the code, for one click back."),
    )
    field_order = ("name", "platform", "platform_study", "stage", "pieces", "places", "minutes", "approval")

    class Meta:
        model = CrowdStudy
        fields = ["name", "platform", "platform_study", "pieces", "places", "minutes", "completion_code"]
        help_texts = {
            "platform_study": _("Prolific's STUDY_ID; links of other studies are refused."),
            "completion_code": _("As set on Prolific; empty: everybody gets a code of their own."),
            "minutes": _("From the entry on; then somebody else may have the place."),
        }

    def fields_for_action(self) -> dict[str, Any]:
        """What open_crowd_study takes."""
        values = dict(self.cleaned_data)
        percent = values.pop("approval")
        return {**values, "least_approval": None if percent is None else percent / MAX_SHARE}

    def _post_clean(self) -> None:
        """The action validates the row, whose role and project are not the form's."""


class CodeCheckForm(forms.Form):
    code = forms.CharField(
        label=_("Completion code"),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
