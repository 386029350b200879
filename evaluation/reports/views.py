"""Show reports of a project and analyses of the models of a release, each with its charts and downloads."""

import csv
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.decisions.repairs import exchange_foils, replace_foils, undo_repair
from evaluation.analyses.registry import REPORTS
from evaluation.cached_results.first_views import waits
from evaluation.charts.inline import cached_chart
from evaluation.errors import EvaluationError
from evaluation.proximity.views import PROXIMITY, proximity_context
from evaluation.reports import pages
from evaluation.reports.actions.request_report import request_report
from evaluation.reports.analysis_pages import PAGES, AnalysisPage
from evaluation.reports.charts_by_name import CHARTS
from evaluation.reports.forms import ReportForm
from evaluation.reports.pages import report_data
from evaluation.reports.reports import about_of, release_analysis
from evaluation.reports.start_page import groups, tiles
from evaluation.scoring.figures import require_figures, waiting_page
from evaluation.text_tables import WRITERS as TABLES
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.registry import RegistryError
from foilworks.core.text.storable import safe_row

MAX_ID_DIGITS = 18


@require_safe
def reports(request: HttpRequest, slug: str) -> HttpResponse:
    """Show whether the set is good, and all reports with their questions."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/reports.html", {"tiles": tiles(project), "groups": groups()})


@require_safe
def report(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    form = ReportForm(project, kind, request.GET)
    context: dict[str, Any] = {"page": page, "groups": groups(), "form": form, "query": form.query()}
    by_job = page.by_job(project)
    if not by_job and waits(project, kind, about_of(kind, *form.chosen()), request.GET):
        return render(request, "evaluation/_report.html", {**context, "waits": True})
    try:
        context |= page.context(project, *form.chosen())
        if by_job and context["stored"].wants_anew:
            _ask(request.user, project, kind, form)
            context |= page.context(project, *form.chosen())
    except (EvaluationError, RegistryError) as error:
        context["why"] = str(error)
    else:
        context["charts"] = _charts(page, context["data"])
    return render(request, page.template, context)


def _charts(page: pages.ReportPage, data: dict[str, Any] | None) -> dict[str, Callable[[], SafeString]]:
    """Return the page's charts by name, each drawn when the template asks for it."""
    if not data:
        return {}
    return {name: partial(cached_chart, name, partial(CHARTS[name], data), data) for name in page.charts}


@require_POST
def repair(request: HttpRequest, slug: str) -> HttpResponse:
    """Accept a proposal of the fair set's page, or undo one."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    numbers = {name: request.POST.get(name, "") for name in ("item", "partner", "event")}
    ids = {name: int(text) for name, text in numbers.items() if text.isdecimal() and len(text) <= MAX_ID_DIGITS}
    try:
        if "event" in ids:
            undo_repair(request.user, ids["event"])
            messages.success(request, _("The proposal is undone."))
        elif "partner" in ids:
            exchange_foils(request.user, ids.get("item", 0), ids["partner"])
            messages.success(request, _("The new candidates wait for review. The items stay until you retract them."))
        else:
            n = len(replace_foils(request.user, ids.get("item", 0)))
            texts = _("%(n)s new candidates wait for people. The item stays until you retract it.") % {"n": n}
            nothing = _("No rule method changes this caption, so people are asked to write a foil.")
            messages.success(request, texts if n else nothing)
    except ActionableError as error:
        messages.error(request, str(error))
    query = urlencode({"subtest": request.POST["subtest"]}) if request.POST.get("subtest") else ""
    return redirect(f"{reverse('reports:report', args=[project.slug, 'fair'])}?{query}")


@require_POST
def report_ask(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Queue the job that computes the report with the parameters of the address."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    form = ReportForm(project, kind, request.GET)
    if not page.by_job(project):
        raise Http404
    _ask(request.user, project, kind, form)
    return redirect(f"{reverse('reports:report', args=[slug, kind])}?{form.query()}")


@require_safe
def report_progress(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Render the live part: it polls itself while the job is in progress, then requests the whole page."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    form = ReportForm(project, kind, request.GET)
    if not page.by_job(project):
        raise Http404
    context = {"page": page, "query": form.query(), **page.context(project, *form.chosen())}
    return render_live(request, "evaluation/_report_progress.html", context, refresh=not context["stored"].is_at_work)


def _ask(person: User, project: Project, kind: str, form: ReportForm) -> None:
    subtest, params = form.chosen()
    request_report(person, project, kind, subtest=subtest, params=params)


def page_of(kind: str) -> pages.ReportPage:
    if kind not in pages.PAGES:
        raise Http404
    return pages.PAGES[kind]


@require_safe
def report_file(request: HttpRequest, slug: str, kind: str, extension: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    if extension not in {"json", "csv", *TABLES}:
        raise Http404
    data = report_data(project, kind, *ReportForm(project, kind, request.GET).chosen())
    return _download(f"{project.slug}-{kind}.{extension}", data, page.rows, page.rows)


def _download(name: str, data: Any, rows: Callable[[Any], Any], shown_rows: Callable[[Any], Any]) -> HttpResponse:
    """Return a file of the data as JSON, of `rows` as CSV, or of `shown_rows` as a table for papers."""
    extension = name.rpartition(".")[2]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if extension == "json":
        return JsonResponse(data, headers=headers, json_dumps_params={"ensure_ascii": False, "indent": 2})
    if extension in TABLES:
        content_type, write = TABLES[extension]
        return HttpResponse(write(shown_rows(data)), content_type=f"{content_type}; charset=utf-8", headers=headers)
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(safe_row(row) for row in rows(data))
    return response


@require_safe
def report_chart(request: HttpRequest, slug: str, kind: str, chart: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    if chart not in page_of(kind).charts:
        raise Http404
    data = report_data(project, kind, *ReportForm(project, kind, request.GET).chosen())
    headers = {"Cache-Control": "private, no-cache"}
    return HttpResponse(CHARTS[chart](data), content_type="image/svg+xml", headers=headers)


@require_safe
def analysis(request: HttpRequest, slug: str, pk: int, kind: str) -> HttpResponse:
    release = enter_project(request, get_release(request.user, slug, pk))
    page, form = _page(kind), _form(request, kind)
    if waiting := waiting_page(request, release):
        return waiting
    context: dict[str, Any] = {
        **(proximity_context(release) if kind == PROXIMITY else {}),
        "release": release,
        "page": page,
        "pages": PAGES,
        "form": form,
        "query": request.GET.urlencode(),
    }
    try:
        data = _data(release, kind, form)
    except ActionableError as error:
        context["why"] = str(error)
    else:
        context |= {
            "data": data,
            "rows": page.table(data),
            "chart": partial(cached_chart, kind, partial(page.chart, data), data),
            "second_chart": page.second and partial(cached_chart, f"{kind}:2", partial(page.second[1], data), data),
            "headings": [heading for _key, heading, _how in page.columns],
        }
    return render(request, "evaluation/analysis.html", context)


@require_safe
def analysis_file(request: HttpRequest, slug: str, pk: int, kind: str, extension: str) -> HttpResponse:
    """Serve `csv` and `json` with everything, the shown table as `tex` or `md`, the chart as `svg`."""
    release = get_release(request.user, slug, pk)
    page = _page(kind)
    if extension not in {"csv", "json", "svg", *TABLES}:
        raise Http404
    require_figures(release)
    try:
        data = _data(release, kind, _form(request, kind))
    except ActionableError as error:
        return HttpResponse(str(error), status=409, content_type="text/plain; charset=utf-8")
    if extension == "svg":
        headers = {"Cache-Control": "private, no-cache"}
        wants_second_chart = page.second is not None and request.GET.get("chart") == page.second[0]
        image = page.second[1](data) if wants_second_chart and page.second else page.chart(data)
        return HttpResponse(image, content_type="image/svg+xml", headers=headers)
    return _download(f"{release.project.slug}-{kind}.{extension}", data, page.csv_rows, page.shown_rows)


def _page(kind: str) -> AnalysisPage:
    if kind not in PAGES:
        raise Http404
    return PAGES[kind]


def _form(request: HttpRequest, kind: str) -> forms.Form:
    """Bind the form to the address, with missing values filled by the current defaults."""
    entry = REPORTS[kind]
    values = {param.name: request.GET.get(param.name, param.default) for param in entry.params}
    return EntryForm(entry, values, prefix="")


def _data(release: Release, kind: str, form: Any) -> dict[str, Any]:
    """Return the report; invalid values in the address fall back to the defaults."""
    return release_analysis(release, kind, form.values() if form.is_valid() else {})
