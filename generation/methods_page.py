"""Show the methods that generate foils and the filters that reject them, with a search."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from foilworks.core.text.registry import Entry
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS

# Entries that a search shows unfolded.
MAX_OPEN, MAX_SEARCH_LENGTH = 3, 200


@require_safe
def methods(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    tables = [
        {"id": "methods", "title": _("Methods"), "entries": _matching(METHODS, asked)},
        {"id": "filters", "title": _("Filters"), "entries": _matching(FILTERS, asked)},
    ]
    n_found = sum(len(table["entries"]) for table in tables)
    context = {"tables": tables, "asked": asked, "n_found": n_found, "is_open": asked and n_found <= MAX_OPEN}
    return render(request, "generation/methods.html", context)


def _matching(table: Mapping[str, Entry], asked: str) -> dict[str, Entry]:
    """Return the rows whose slug, label, summary or parameters contain every word of a search."""
    words = asked.casefold().split()

    def text_of(slug: str, entry: Entry) -> str:
        texts = (slug, _(entry.label), _(entry.summary) if entry.summary else "", *(one.name for one in entry.params))
        return " ".join(texts).casefold()

    return {slug: entry for slug, entry in table.items() if all(word in text_of(slug, entry) for word in words)}
