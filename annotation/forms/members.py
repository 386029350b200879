"""Forms of annotation's pages."""

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.models import Role


class MemberForm(forms.Form):
    """Who comes into the project, and with which roles; the action says what is wrong with them."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, widget=forms.CheckboxSelectMultiple)
    new_account = forms.BooleanField(
        label=_("Make a new account"),
        required=False,
        help_text=_("Its temporary password is shown once, for you to pass on."),
    )
