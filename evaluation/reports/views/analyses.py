"""Analyses of the models of a release: a page, a chart and files each."""

import csv
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus.access import get_release
from corpus.models import Release
from evaluation.analyses.registry import REPORTS
from evaluation.proximity.views import PROXIMITY, proximity_context
from evaluation.reports.analysis_pages import PAGES, AnalysisPage
from evaluation.reports.scored_facts import release_analysis
from evaluation.text_tables import WRITERS as TABLES
from projects.access import enter_project
from projects.forms.registry_entry import EntryForm
from text.csv_cells import safe_row
from text.errors import ActionableError


@require_safe
def analysis(request: HttpRequest, slug: str, pk: int, kind: str) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    page, form = _page(kind), _form(request, kind)
    context: dict[str, Any] = {
        **(proximity_context(found) if kind == PROXIMITY else {}),
        "release": found,
        "page": page,
        "pages": PAGES,
        "form": form,
        "query": request.GET.urlencode(),
    }
    try:
        data = _data(found, kind, form)
    except ActionableError as error:
        context["why"] = str(error)
    else:
        context |= {
            "data": data,
            "rows": page.table(data),
            "headings": [heading for _key, heading, _how in page.columns],
        }
    return render(request, "evaluation/analysis.html", context)


@require_safe
def analysis_file(request: HttpRequest, slug: str, pk: int, kind: str, extension: str) -> HttpResponse:
    """`csv` and `json` with everything, the shown table as `tex` or `md`, the chart as `svg`."""
    found = get_release(request.user, slug, pk)
    page = _page(kind)
    if extension not in {"csv", "json", "svg", *TABLES}:
        raise Http404
    try:
        data = _data(found, kind, _form(request, kind))
    except ActionableError as error:
        return HttpResponse(str(error), status=409, content_type="text/plain; charset=utf-8")
    if extension == "svg":
        headers = {"Cache-Control": "private, no-cache"}
        asked = page.second is not None and request.GET.get("chart") == page.second[0]
        image = page.second[1](data) if asked and page.second else page.chart(data)
        return HttpResponse(image, content_type="image/svg+xml", headers=headers)
    headers = {"Content-Disposition": f'attachment; filename="{found.project.slug}-{kind}.{extension}"'}
    if extension == "json":
        return JsonResponse(data, headers=headers, json_dumps_params={"ensure_ascii": False, "indent": 2})
    if extension in TABLES:
        content_type, write = TABLES[extension]
        text = write(page.shown_rows(data))
        return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(safe_row(row) for row in page.csv_rows(data))
    return response


def _page(kind: str) -> AnalysisPage:
    if kind not in PAGES:
        raise Http404
    return PAGES[kind]


def _form(request: HttpRequest, kind: str) -> forms.Form:
    """Bound to what the address says, its gaps filled with the defaults that hold."""
    entry = REPORTS[kind]
    given = {param.name: request.GET.get(param.name, param.default) for param in entry.params}
    return EntryForm(entry, given, prefix="")


def _data(found: Release, kind: str, form: Any) -> dict[str, Any]:
    """What makes no sense in the address falls to the defaults."""
    return release_analysis(found, kind, form.values() if form.is_valid() else {})
