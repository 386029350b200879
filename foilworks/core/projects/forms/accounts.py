"""Forms of a person's account and tokens, of projects, invitations and consent."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.access import visible_projects
from foilworks.core.projects.actions.accounts import check_second_factor
from foilworks.core.projects.actions.invitations import MAX_DAYS
from foilworks.core.projects.models import ApiToken, ConsentText, OnWithdrawal, Project, Role, User
from foilworks.core.projects.number_fields import IntegerField
from foilworks.core.projects.tokens import MAX_DAYS as MAX_TOKEN_DAYS
from foilworks.core.projects.tokens import USUAL_DAYS
from foilworks.core.projects.webhooks.event_type import event_types

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class CodeForm(forms.Form):
    """Six digits of the app, or a recovery code."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits from your authenticator app, or one of your recovery codes."),
        widget=forms.TextInput(attrs={**PLAIN, "autocomplete": "one-time-code", "inputmode": "text"}),
    )


class SignInWithCodeForm(AuthenticationForm):
    """Name, password and code at once. The code is checked first: a wrong one says nothing of the password."""

    code = CodeForm.base_fields["code"]

    def clean(self) -> dict:
        person = User.objects.filter(username=self.cleaned_data.get("username", ""), is_active=True).first()
        if person is None or not check_second_factor(person, self.cleaned_data.get("code", "")):
            raise self.get_invalid_login_error()
        return super().clean()


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["first_name", "last_name", "email"]
        help_texts = {
            "email": _(
                "Used to reset your password, and for notifications that you choose. Project members cannot see it."
            )
        }


class InvitationForm(forms.Form):
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, widget=forms.CheckboxSelectMultiple)
    days = IntegerField(label=_("Valid for (days)"), min_value=1, max_value=MAX_DAYS, initial=7)
    most_uses = IntegerField(
        label=_("Max people"),
        min_value=1,
        max_value=100_000,
        required=False,
        initial=1,
        help_text=_("Leave empty to admit anyone with the link until it expires."),
    )
    note = forms.CharField(
        label=_("Private note"),
        max_length=120,
        required=False,
        help_text=_("Describe the people you invite. Do not enter a person's name."),
    )


class TeamForm(forms.Form):
    """How many people to invite for each kind of work: one link per role.

    At first, those that the address or the project's count names as missing.
    """

    annotator = IntegerField(label=_("Annotators"), min_value=0, max_value=100_000)
    reviewer = IntegerField(label=_("Reviewers"), min_value=0, max_value=100_000)
    validator = IntegerField(label=_("Validators"), min_value=0, max_value=100_000)

    @classmethod
    def asked_for(cls, query: Mapping[str, str]) -> "TeamForm":
        """Return the form with the numbers that an address asks for, such as ?validator=2."""
        values = {name: query.get(name, "") for name in cls.base_fields}
        numbers = {name: int(number) for name, number in values.items() if number.isdecimal() and len(number) < 6}
        return cls(initial=dict.fromkeys(values, 0) | numbers if numbers else None)

    def clean(self) -> dict[str, int]:
        if not self.errors and not any(self.cleaned_data.values()):
            raise forms.ValidationError(_("Enter at least one person."))
        return self.cleaned_data


class JoinForm(BaseUserCreationForm):
    """A new account, for an invitation."""

    class Meta:
        model = User
        fields = ["username", "email"]
        help_texts = {
            "username": _("The researchers of your projects see it. It does not have to be your real name."),
            "email": _("Used to reset your password, and for notifications that you choose."),
        }


class ConsentTextForm(forms.ModelForm):
    class Meta:
        model = ConsentText
        fields = ["text", "on_withdrawal"]
        widgets = {"text": forms.Textarea(attrs={"rows": 14})}
        help_texts = {
            "text": _("Describe the work, the data that you store and for how long, and the person to contact."),
            "on_withdrawal": "",
        }


class ConsentForm(forms.Form):
    """`version` is the one on the page."""

    version = IntegerField(widget=forms.HiddenInput)
    agree = forms.BooleanField(label=_("I have read this and agree."))


class LeaveForm(forms.Form):
    """How somebody leaves: what happens to their work where the consent lets them choose."""

    work = forms.ChoiceField(label=_("Your work"), widget=forms.RadioSelect)
    sure = forms.BooleanField(label=_("I want to leave. This cannot be undone."))

    def __init__(self, *args: Any, on_withdrawal: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [choice for choice in OnWithdrawal.choices if choice[0] != OnWithdrawal.CHOOSE]
        if on_withdrawal != OnWithdrawal.CHOOSE:
            choices = [choice for choice in choices if choice[0] == on_withdrawal]
        self.fields["work"].choices = choices
        self.fields["work"].initial = choices[0][0]


# /projects/new/ is a page of its own, so no project may be called that.
RESERVED_SLUGS = frozenset({"new"})


ONCE_LABEL = _("Show each sentence of a clip to a person only once")
ONCE_REASON = _(
    "Nobody judges two foils of one item, so an item with three foils needs three times as many validators. With this "
    "rule, nobody judges two items that share a sentence of a clip either: people would recognize it."
)
ONCE_HELP = _(
    "Nobody judges two foils of one item, so an item with three foils needs three times as many validators. With this "
    "rule, nobody judges two items that share a sentence of a clip either: people would recognize it. "
    "You can change this later under Quality."
)


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "slug", "description", "edit_stage", "leakage_scope", "judge_caption_once"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "name": _("Name"),
            "slug": _("Short name"),
            "description": _("Description"),
            "edit_stage": _("Annotators edit generated foils before review"),
            "leakage_scope": _("People who made or reviewed a foil cannot judge"),
            "judge_caption_once": ONCE_LABEL,
        }
        help_texts = {
            "slug": _(
                "Used in URLs and commands: lowercase letters, digits and hyphens. Derived from the name "
                "if you leave it empty."
            ),
            "edit_stage": _("You cannot change this after you create the project."),
            "leakage_scope": _(
                "“The whole video” is stricter. You can change this in the project settings until someone has seen a "
                "pair."
            ),
            "judge_caption_once": ONCE_HELP,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].lower() or slugify(self.cleaned_data.get("name", ""))[:60].strip("-")
        if not slug or slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("Enter a short name with lowercase letters, digits and hyphens."))
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError(
                _("The short name “%(slug)s” is already in use. Choose another one.") % {"slug": slug}
            )
        return slug


def _event_choices() -> list[tuple[str, str | Promise]]:
    """Return the events that a webhook can receive; the test delivery is sent on request only."""
    return [(name, event_type.words) for name, event_type in event_types().items() if name != "ping"]


class WebhookForm(forms.Form):
    url = forms.URLField(
        label=_("Address"),
        max_length=500,
        assume_scheme="https",
        help_text=_("A public https address that accepts POST requests."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=_event_choices,
        widget=forms.CheckboxSelectMultiple,
        initial=lambda: [name for name, _words in _event_choices()],
    )


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        help_text=_("The program that will use it, such as “nightly export on the cluster”."),
    )
    scope = forms.ChoiceField(
        label=_("Scope"), choices=ApiToken.Scope.choices, widget=forms.RadioSelect, initial=ApiToken.Scope.READ
    )
    project = forms.ModelChoiceField(
        label=_("Project"), queryset=None, required=False, empty_label=_("all my projects"), to_field_name="slug"
    )
    role = forms.ChoiceField(label=_("Role"), required=False, choices=[("", _("all my roles")), *Role.choices])
    days = IntegerField(label=_("Valid for (days)"), min_value=1, max_value=MAX_TOKEN_DAYS, initial=USUAL_DAYS)

    def __init__(self, person: User, data: Any = None) -> None:
        super().__init__(data)
        self.fields["project"].queryset = visible_projects(person)
