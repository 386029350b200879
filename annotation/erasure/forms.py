"""The form of an erasure."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import OnWithdrawal, User


class EraseForm(forms.Form):
    """Confirm an erasure with the password; a crowd worker has none."""

    work = forms.ChoiceField(
        label=_("Your work (if the project's consent text lets you choose)"),
        choices=[choice for choice in OnWithdrawal.choices if choice[0] != OnWithdrawal.CHOOSE],
        initial=OnWithdrawal.KEEP,
        widget=forms.RadioSelect,
    )
    password = forms.CharField(
        label=_("Your password"), strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    sure = forms.BooleanField(label=_("Delete the account. I know that this cannot be undone."))

    def __init__(self, *args: Any, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.actor = actor
        if not actor.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        password = self.cleaned_data["password"]
        if not self.actor.check_password(password):
            raise forms.ValidationError(_("The password is wrong. Enter your current password."))
        return password
