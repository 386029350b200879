"""The form of the rules of a project's work."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.actions.settings.work_settings import WorkRules
from foilworks.core.projects.forms.accounts import ONCE_LABEL, ONCE_REASON
from foilworks.core.projects.models import LeakageScope, Project
from foilworks.core.projects.number_fields import FloatField, IntegerField

MAX_LEASE_MINUTES = 7 * 24 * 60
MAX_UNDO_SECONDS = 600


class WorkRulesForm(forms.Form):
    """The field of the scope is disabled once it is fixed; a posted value is then ignored."""

    leakage_scope = forms.ChoiceField(
        label=_("People who made or reviewed a foil cannot judge"),
        choices=LeakageScope.choices,
        widget=forms.RadioSelect,
        help_text=_(
            "“The whole video” is stricter: nobody sees items of a video whose foils they know, so you need more "
            "people. With “the item only”, they can judge other items of the video, where they may recognize the "
            "caption."
        ),
    )
    judge_caption_once = forms.BooleanField(label=ONCE_LABEL, help_text=ONCE_REASON, required=False)
    lease_minutes = FloatField(
        label=_("Reserve a task for (minutes)"),
        min_value=0.5,
        max_value=MAX_LEASE_MINUTES,
        help_text=_(
            "While a task is reserved, nobody else gets it. If the time is short, slow work can arrive too late to "
            "count. If it is long, abandoned tasks wait longer."
        ),
    )
    undo_seconds = IntegerField(
        label=_("Undo an answer for (seconds)"),
        min_value=0,
        max_value=MAX_UNDO_SECONDS,
        help_text=_(
            "Within this time, people can undo their last answer. 0 turns undo off. An item that an undone answer had "
            "decided waits for votes again."
        ),
    )

    def __init__(self, data: Any, *, project: Project, why_fixed: str, **kwargs: Any) -> None:
        initial = {
            "leakage_scope": project.leakage_scope,
            "judge_caption_once": project.judge_caption_once,
            "lease_minutes": project.lease_seconds / 60,
            "undo_seconds": project.undo_seconds,
        }
        super().__init__(data, initial=initial, **kwargs)
        if project.lease_seconds % 60 == 0:
            self.initial["lease_minutes"] = project.lease_seconds // 60
        if why_fixed:
            self.fields["leakage_scope"].disabled = True
            self.fields["leakage_scope"].help_text = why_fixed

    def rules(self) -> WorkRules:
        values = self.cleaned_data
        return WorkRules(
            leakage_scope=values["leakage_scope"],
            judge_caption_once=values["judge_caption_once"],
            lease_seconds=round(values["lease_minutes"] * 60),
            undo_seconds=values["undo_seconds"],
        )
