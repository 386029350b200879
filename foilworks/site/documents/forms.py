"""Define the forms of the citation, the terms of sources and the datasheet."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation.rules.guidelines import render_guideline
from foilworks.core.corpus.export_formats.parts.datasheet_questions import SECTIONS
from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.projects.models import Project
from foilworks.site.documents.actions.documents import MAX_ANSWER_LENGTH, TERMS, ChangedMeanwhileError
from foilworks.site.documents.models import PublicationFacts, SourceLicence, answer_version

PREFIX = "source"
# What a person may choose as a licence; any other text is taken too.
COMMON_LICENCES = ("CC BY 4.0", "CC BY-SA 4.0", "CC BY-NC 4.0", "CC BY-NC-SA 4.0", "CC0 1.0", "MIT", "Apache 2.0")
SUGGESTIONS = {"list": "common-licences"}


def with_licence_url(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Fill in the address of a licence that is known by its name."""
    known = known_licence(found.get("licence") or "")
    if known and not found.get(name):
        found[name] = known.url
    return found


def _address(label: Any, **fields: Any) -> forms.URLField:
    return forms.URLField(label=label, max_length=500, required=False, assume_scheme="https", **fields)


class PublicationForm(forms.ModelForm):
    url = _address(_("URL"), help_text=_("A page that describes the benchmark."))
    licence_url = _address(_("Licence URL"))

    class Meta:
        model = PublicationFacts
        fields = ("title", "authors", "abstract", "year", "doi", "url", "licence", "licence_url", "contact")
        labels = {
            "title": _("Title"),
            "authors": _("Authors"),
            "abstract": _("Purpose"),
            "year": _("Year"),
            "doi": "DOI",
            "licence": _("Licence of the annotations"),
            "contact": _("Contact"),
        }
        help_texts = {
            "title": _("Leave empty to use the project name."),
            "abstract": _("The purpose in one or two sentences. Shown at the top of the public page."),
            "authors": _("One author per line: family name, comma, given name. For an organisation, enter its name."),
            "licence": _(
                "The licence of foils, judgements and tables, for example CC BY 4.0. Videos keep the terms of "
                "their sources."
            ),
            "contact": _("Shown in the datasheet."),
        }
        widgets = {
            "authors": forms.Textarea(attrs={"rows": 3}),
            "abstract": forms.Textarea(attrs={"rows": 3}),
            "licence": forms.TextInput(attrs=SUGGESTIONS),
        }

    def clean(self) -> dict[str, Any]:
        return with_licence_url(super().clean() or {}, "licence_url")

    def clean_year(self) -> str:
        year = self.cleaned_data["year"]
        if year and not (year.isdecimal() and len(year) == 4):
            raise forms.ValidationError(_("Enter a year with four digits."))
        return year


class TermsForm(forms.Form):
    """The terms of one source. Its name is shown next to the form and is not a field."""

    licence = forms.CharField(
        label=_("Licence"), max_length=200, required=False, widget=forms.TextInput(attrs=SUGGESTIONS)
    )
    url = _address(_("URL"))
    notes = forms.CharField(label=_("Notes"), max_length=500, required=False)
    may_show = forms.BooleanField(label=_("Allow the public page to play its videos"), required=False)

    def __init__(self, source: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.source = source

    def clean(self) -> dict[str, Any]:
        return with_licence_url(super().clean() or {}, "url")


def terms_forms(project: Project, sources: Iterable[str], data: Mapping[str, Any] | None) -> list[TermsForm]:
    """Return a form for each source, with the stored values. One query."""
    stored = {row.source_dataset: row for row in SourceLicence.objects.filter(project=project)}
    forms_ = []
    for number, name in enumerate(sources):
        row = stored.get(name)
        initial = {field: getattr(row, field) for field in TERMS} if row else {}
        forms_.append(TermsForm(name, data, prefix=f"{PREFIX}-{number}", initial=initial))
    return forms_


SEEN = "seen-"
COMMENTS = ".comments"


def seen_name(slug: str) -> str:
    """Return the name of the input that has the version of an answer which the page shows."""
    return SEEN + slug


class DatasheetForm(forms.Form):
    """A field for each question; `own`: the answers from the numbers of the newest release, by question.

    A page has the fields of one section; only the fields that were sent are submitted.
    """

    def __init__(self, data: Mapping[str, Any] | None, answers: Mapping[str, str], own: Mapping[str, str]) -> None:
        super().__init__(data)
        self.own = own
        for section in SECTIONS:
            for question in section.questions:
                self.fields[question.slug] = forms.CharField(
                    label=question.text,
                    required=False,
                    max_length=MAX_ANSWER_LENGTH,
                    initial=answers.get(question.slug, ""),
                    widget=forms.Textarea(attrs={"rows": 2}),
                )

    def sections(self) -> list[dict[str, Any]]:
        """Return of each section: slug, title, rows of questions, how many are answered, open, and asked.

        Further comments of a section are not asked.
        """
        found: list[dict[str, Any]] = []
        for section in SECTIONS:
            rows = [self._row(question.slug) for question in section.questions]
            asked = [row for row in rows if not row["is_extra"]]
            n_open = sum(row["is_open"] for row in asked)
            counts = {"n_open": n_open, "n": len(asked), "n_answered": len(asked) - n_open}
            found.append({"slug": section.slug, "title": section.title, "rows": rows, **counts})
        return found

    def section_of(self, slug: str) -> dict[str, Any]:
        """Return the requested section, else the first with open questions; `following`: the one after it, or None."""
        found = self.sections()
        at = next((n for n, one in enumerate(found) if one["slug"] == slug), None)
        if at is None:
            at = next((n for n, one in enumerate(found) if one["n_open"]), 0)
        return {**found[at], "following": found[at + 1] if at + 1 < len(found) else None}

    def _row(self, slug: str) -> dict[str, Any]:
        own, is_extra = self.own.get(slug, ""), slug.endswith(COMMENTS)
        is_open = not (own or self.initial_text(slug)) and not is_extra
        # bandit B703: the renderer allows only a list of tags.
        shown = SafeString(render_guideline(own)) if own else ""  # nosec
        about = {"seen_name": seen_name(slug), "seen": self.version(slug)}
        return {"field": self[slug], "own": shown, "is_open": is_open, "is_extra": is_extra, **about}

    def initial_text(self, slug: str) -> str:
        return self.fields[slug].initial

    def version(self, slug: str) -> str:
        """Return the version of the stored answer."""
        return answer_version(self.initial_text(slug))

    def submitted(self) -> dict[str, str]:
        """Return the answers that were sent, by question."""
        return {slug: text for slug, text in self.cleaned_data.items() if slug in self.data}

    def seen(self) -> dict[str, str]:
        """Return by question the versions that the page showed."""
        return {slug: self.data[seen_name(slug)] for slug in self.fields if seen_name(slug) in self.data}

    def add_conflicts(self, error: ChangedMeanwhileError) -> None:
        """Say next to each answer what is stored now; the fields keep the texts that were sent."""
        for slug, text in error.stored.items():
            self.add_error(slug, str(error))
            self.add_error(slug, _("Stored answer: %(text)s") % {"text": text or "–"})

    @property
    def n_open(self) -> int:
        return sum(section["n_open"] for section in self.sections())

    @property
    def n(self) -> int:
        return sum(section["n"] for section in self.sections())

    @property
    def n_answered(self) -> int:
        return self.n - self.n_open
