"""Forms of projects."""

from typing import Any

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from projects.models import Project

# /projects/new/ is a page of its own, so no project may be called that.
RESERVED_SLUGS = frozenset({"new"})


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "slug", "description", "edit_stage", "leakage_scope"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "slug": _("Short name"),
            "edit_stage": _("People edit the candidates before they are reviewed"),
            "leakage_scope": _("Whoever made or reviewed a foil may not judge"),
        }
        help_texts = {
            "slug": _(
                "In addresses and commands: lower-case letters, digits and hyphens. Made of the name if left empty."
            ),
            "edit_stage": "",
            "leakage_scope": _(
                "The whole video is the stricter choice. This, and whether people edit, stay as they are once the "
                "project is made."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].lower() or slugify(self.cleaned_data.get("name", ""))[:60].strip("-")
        if not slug or slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("Give a short name of lower-case letters, digits and hyphens."))
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError(_("The short name “%(slug)s” is taken; choose another.") % {"slug": slug})
        return slug
