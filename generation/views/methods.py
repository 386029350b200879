"""Every row of the tables of methods and filters, with parameters, defaults and deviations from the papers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS


@require_safe
def methods(request: HttpRequest) -> HttpResponse:
    tables = [
        {"id": "methods", "title": _("Methods"), "entries": METHODS},
        {"id": "filters", "title": _("Filters"), "entries": FILTERS},
    ]
    return render(request, "generation/methods.html", {"tables": tables})
