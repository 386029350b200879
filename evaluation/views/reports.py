"""Reports of a project, one page a kind, each with its charts and downloads."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from evaluation import report_pages
from evaluation.errors import EvaluationError
from evaluation.forms import ReportForm
from projects.access import get_project
from projects.models import Role


@require_safe
def reports(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    return redirect("evaluation:report", project.slug, next(iter(report_pages.PAGES)))


@require_safe
def report(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    page = page_of(kind)
    form = ReportForm(project, kind, request.GET)
    context: dict[str, Any] = {"page": page, "pages": report_pages.PAGES, "form": form, "query": form.query()}
    try:
        context |= page.context(project, *form.chosen())
    except EvaluationError as error:
        context["why"] = str(error)
    return render(request, f"evaluation/report_{kind}.html", context)


def page_of(kind: str) -> report_pages.ReportPage:
    if kind not in report_pages.PAGES:
        raise Http404
    return report_pages.PAGES[kind]
