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
    search = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    tables = [
        {"id": "methods", "title": _("Methods"), "entries": _matching(METHODS, search)},
        {"id": "filters", "title": _("Filters"), "entries": _matching(FILTERS, search)},
    ]
    n_found = sum(len(table["entries"]) for table in tables)
    context = {"tables": tables, "asked": search, "n_found": n_found, "is_open": search and n_found <= MAX_OPEN}
    return render(request, "generation/methods.html", context)


def _matching(table: Mapping[str, Entry], search: str) -> dict[str, Entry]:
    """Return the rows whose slug, label, summary or parameters contain every word of a search."""
    words = search.casefold().split()

    def text_of(slug: str, entry: Entry) -> str:
        texts = (
            slug,
            _(entry.label),
            _(entry.summary) if entry.summary else "",
            *(parameter.name for parameter in entry.params),
        )
        return " ".join(texts).casefold()

    return {slug: entry for slug, entry in table.items() if all(word in text_of(slug, entry) for word in words)}
