"""Forms of what a project says of itself, of public pages, and of scores that strangers send."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Release
from evaluation.documents.forms import _address
from evaluation.publishing.models import PublicPage, Submission


class PublicPageForm(forms.ModelForm):
    class Meta:
        model = PublicPage
        fields = ("is_open", "offers_export", "takes_scores")
        labels = {
            "is_open": _("Whoever has the address sees the page"),
            "offers_export": _("Visitors may download the whole export"),
            "takes_scores": _("Visitors may send scores of their models"),
        }
        help_texts = {
            "offers_export": _("With single judgements under pseudonyms; no video is in it."),
            "takes_scores": _("They are checked at once, and shown to nobody before you accept them."),
        }


class SubmissionForm(forms.ModelForm):
    """Scores of a model, by somebody without an account."""

    scores = forms.FileField(label=_("File of scores"), max_length=200, help_text=_("JSON lines, one item a line."))
    url = _address(_("Address of the model"))

    class Meta:
        model = Submission
        fields = ("label", "sent_by", "contact", "url", "notes")
        labels = {
            "label": _("The model is called"),
            "sent_by": _("Sent by"),
            "contact": _("How to reach you"),
            "notes": _("Notes"),
        }
        help_texts = {
            "sent_by": _("Stands beside the model: people or an institution."),
            "contact": _("For the people of this benchmark alone; it is never shown."),
            "notes": _("For the people of this benchmark alone: how it was run, what it was trained on."),
        }
        widgets = {"notes": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.release = release
        self.order_fields(["label", "sent_by", "contact", "scores", "url", "notes"])

    def clean(self) -> dict[str, Any]:
        """One line each, of what a page shows."""
        cleaned = super().clean() or {}
        for name in ("label", "sent_by", "contact"):
            if name in cleaned and not cleaned[name].isprintable():
                self.add_error(name, _("Write it in one line of printable characters."))
        return cleaned
