"""The same reports as files: JSON with everything, the main table as CSV, LaTeX and Markdown, charts as SVG."""

import csv

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from evaluation.reports.charts_by_name import CHARTS
from evaluation.reports.forms import ReportForm
from evaluation.reports.pages import report_data
from evaluation.reports.views.reports import page_of
from evaluation.text_tables import WRITERS as TABLES
from projects.access import get_project
from projects.models import Role
from text.csv_cells import safe_row


@require_safe
def report_file(request: HttpRequest, slug: str, kind: str, extension: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    if extension not in {"json", "csv", *TABLES}:
        raise Http404
    data = report_data(project, kind, *ReportForm(project, kind, request.GET).chosen())
    headers = {"Content-Disposition": f'attachment; filename="{project.slug}-{kind}.{extension}"'}
    if extension == "json":
        return JsonResponse(data, headers=headers, json_dumps_params={"ensure_ascii": False, "indent": 2})
    if extension in TABLES:
        content_type, write = TABLES[extension]
        return HttpResponse(write(page.rows(data)), content_type=f"{content_type}; charset=utf-8", headers=headers)
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(safe_row(row) for row in page.rows(data))
    return response


@require_safe
def report_chart(request: HttpRequest, slug: str, kind: str, chart: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    if chart not in page_of(kind).charts:
        raise Http404
    data = report_data(project, kind, *ReportForm(project, kind, request.GET).chosen())
    headers = {"Cache-Control": "private, no-cache"}
    return HttpResponse(CHARTS[chart](data), content_type="image/svg+xml", headers=headers)
