"""Define the forms of public pages and of scores that visitors submit."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.releases.models import ItemReport, ReportReason
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.records import MAX_ID
from foilworks.site.documents.forms import _address
from foilworks.site.publishing.models import PublicPage, Submission


class PublicPageForm(forms.ModelForm):
    class Meta:
        model = PublicPage
        fields = ("is_open", "lists_items", "offers_export", "takes_scores")
        labels = {
            "is_open": _("Show the page to anyone with the link"),
            "lists_items": _("List the items"),
            "offers_export": _("Let visitors download the full export"),
            "takes_scores": _("Let visitors submit scores for their models"),
        }
        help_texts = {
            "lists_items": _(
                "Visitors search captions and foils. Items that are held back or taken down are left out."
            ),
            "offers_export": _("The export contains individual judgements under pseudonyms. It contains no videos."),
            "takes_scores": _("Scores are checked on upload. They stay hidden until you accept them."),
        }


class PublishForm(forms.Form):
    """What the folder contains, and why a red checklist does not matter."""

    anonymous = forms.BooleanField(
        label=_("Anonymised copy for double-blind review"),
        required=False,
        help_text=_("Without authors, contact, addresses, free text and file names. Ids are numbers."),
    )
    videos = forms.BooleanField(
        label=_("Copy the videos whose sources allow it"),
        required=False,
        help_text=_("All other videos are pointers to their sources. An anonymised copy has only pointers."),
    )
    reason = forms.CharField(label=_("Reason to publish in spite of a red checklist"), required=False, max_length=500)


class SubmissionForm(forms.ModelForm):
    """Scores of a model, by somebody without an account."""

    scores = forms.FileField(label=_("Score file"), max_length=200, help_text=_("JSON lines, one item per line."))
    url = _address(_("Model URL"))

    class Meta:
        model = Submission
        fields = ("label", "sent_by", "contact", "url", "notes")
        labels = {
            "label": _("Model name"),
            "sent_by": _("Submitted by"),
            "contact": _("Contact"),
            "notes": _("Notes"),
        }
        help_texts = {
            "sent_by": _("People or an institution. Shown next to the model."),
            "contact": _("Visible only to the benchmark team. Never published."),
            "notes": _("How you ran the model and what it was trained on. Visible only to the benchmark team."),
        }
        widgets = {"notes": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.release = release
        self.order_fields(["label", "sent_by", "contact", "scores", "url", "notes"])

    def clean(self) -> dict[str, Any]:
        """Reduce fields that a page shows to one line each."""
        cleaned = super().clean() or {}
        for name in ("label", "sent_by", "contact"):
            if name in cleaned and not cleaned[name].isprintable():
                self.add_error(name, _("This field has line breaks or unprintable characters. Enter one line of text."))
        return cleaned


class ReportForm(forms.ModelForm):
    """What is wrong with an item, by somebody without an account."""

    item = forms.CharField(label=_("Item ID"), max_length=MAX_ID, help_text=_("As in the export, or above an example."))

    class Meta:
        model = ItemReport
        fields = ("why", "text", "contact")
        labels = {"why": _("What is wrong"), "text": _("Details"), "contact": _("Contact")}
        help_texts = {"contact": _("Visible only to the benchmark team. Never published.")}
        widgets = {"text": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release
        self.order_fields(["item", "why", "text", "contact"])
        self.fields["why"].choices = [("", _("Choose a reason")), *self.fields["why"].choices[1:]]

    def clean_item(self) -> ReleaseItem:
        """Find the public item; a private one is as unknown as one that does not exist."""
        shown = ReleaseItem.objects.filter(release=self.release, is_private=False, video__takedown__isnull=True)
        member = shown.filter(record__id=self.cleaned_data["item"].strip()).first()
        if member is None:
            raise forms.ValidationError(_("This release shows no item with this ID. Check the ID."))
        return member

    def clean_contact(self) -> str:
        contact = self.cleaned_data["contact"]
        if not contact.isprintable():
            raise forms.ValidationError(
                _("This field has line breaks or unprintable characters. Enter one line of text.")
            )
        return contact

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("why") == ReportReason.OTHER and not cleaned.get("text", "").strip():
            self.add_error("text", _("Describe what is wrong."))
        return cleaned
