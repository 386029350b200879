"""Forms of a person's account, of invitations and of consent."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.utils.translation import gettext_lazy as _

from projects.actions.make_invitation import MAX_DAYS
from projects.models import ConsentText, OnWithdrawal, Role, User

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class CodeForm(forms.Form):
    """Six digits of the app, or a recovery code."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits of your authenticator app, or one of your recovery codes."),
        widget=forms.TextInput(attrs={**PLAIN, "autocomplete": "one-time-code", "inputmode": "text"}),
    )


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["first_name", "last_name", "email"]
        help_texts = {"email": _("For a new password alone. Nobody in a project sees it.")}


class InvitationForm(forms.Form):
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, widget=forms.CheckboxSelectMultiple)
    days = forms.IntegerField(label=_("Days until it expires"), min_value=1, max_value=MAX_DAYS, initial=7)
    most_uses = forms.IntegerField(
        label=_("For how many people"),
        min_value=1,
        max_value=100_000,
        required=False,
        initial=1,
        help_text=_("Empty: for anybody who has the link, until it expires."),
    )
    note = forms.CharField(
        label=_("Note for yourself"), max_length=120, required=False, help_text=_("Whom it is for; not a name.")
    )


class JoinForm(BaseUserCreationForm):
    """A new account, for an invitation."""

    class Meta:
        model = User
        fields = ["username", "email"]
        help_texts = {
            "username": _("Your project's researchers see it; it need not be your name."),
            "email": _("For a new password alone."),
        }


class ConsentTextForm(forms.ModelForm):
    class Meta:
        model = ConsentText
        fields = ["text", "on_withdrawal"]
        widgets = {"text": forms.Textarea(attrs={"rows": 14})}
        help_texts = {
            "text": _("What is asked of people, what is stored of them and how long, and whom they can write to."),
            "on_withdrawal": "",
        }


class ConsentForm(forms.Form):
    """`version` is the one on the page."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    agree = forms.BooleanField(label=_("I have read this and agree."))


class LeaveForm(forms.Form):
    """How somebody leaves: what happens to their work where the consent lets them choose."""

    work = forms.ChoiceField(label=_("Your work"), widget=forms.RadioSelect)
    sure = forms.BooleanField(label=_("I want to leave; it cannot be taken back."))

    def __init__(self, *args: Any, on_withdrawal: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [choice for choice in OnWithdrawal.choices if choice[0] != OnWithdrawal.CHOOSE]
        if on_withdrawal != OnWithdrawal.CHOOSE:
            choices = [choice for choice in choices if choice[0] == on_withdrawal]
        self.fields["work"].choices = choices
        self.fields["work"].initial = choices[0][0]
