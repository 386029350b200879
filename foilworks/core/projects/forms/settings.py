"""Forms of a project's settings that every project has: its name, and the typed name that deletes it."""

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import Project


class AboutForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {"name": _("Name"), "description": _("Description")}
        help_texts = {
            "name": _("Shown on every page, in exports and on public pages. Addresses keep the short name."),
            "description": _("Shown in the list of projects."),
        }


class DeleteForm(forms.Form):
    typed_name = forms.CharField(
        label=_("Name of the project"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
