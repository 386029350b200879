"""Search the project."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from foilworks.core.projects.access import get_project
from foilworks.core.projects.listing.filters import Filters
from foilworks.site.project_search import Results, search


class SearchForm(Filters):
    q = forms.CharField(
        label=_("Search the project"),
        required=False,
        max_length=200,
        widget=forms.SearchInput(attrs={"placeholder": _("Search"), "data-hotkey": "/"}),
    )


@require_safe
def search_project(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    form = SearchForm(request.GET)
    text = form.chosen().get("q", "")
    if not text:
        # What a person comes here for is to type.
        form.fields["q"].widget.attrs["autofocus"] = True
    results = search(request.user, project, text) if text else Results([], [])
    return render(request, "foilworks/search.html", {"form": form, "text": text, "results": results})
