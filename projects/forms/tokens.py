"""The form of a new token."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.access import visible_projects
from projects.models import ApiToken, Role, User
from projects.tokens import MAX_DAYS, USUAL_DAYS


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What will use it, such as “nightly export on the cluster”.")
    )
    scope = forms.ChoiceField(
        label=_("It may"), choices=ApiToken.Scope.choices, widget=forms.RadioSelect, initial=ApiToken.Scope.READ
    )
    project = forms.ModelChoiceField(
        label=_("In"), queryset=None, required=False, empty_label=_("all my projects"), to_field_name="slug"
    )
    role = forms.ChoiceField(label=_("As"), required=False, choices=[("", _("all my roles")), *Role.choices])
    days = forms.IntegerField(label=_("Good for, in days"), min_value=1, max_value=MAX_DAYS, initial=USUAL_DAYS)

    def __init__(self, person: User, data: Any = None) -> None:
        super().__init__(data)
        self.fields["project"].queryset = visible_projects(person)
