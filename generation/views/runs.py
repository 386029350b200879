"""The generation runs of a project, newest first."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.methods.registry import METHODS
from generation.models import GenerationRun
from generation.run_counts import counts_by_run
from projects.access import get_project
from projects.models import Role

PER_PAGE = 30


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = GenerationRun.objects.filter(project=project).select_related("subtest", "job").order_by("-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    counts = counts_by_run(page)
    for row in page:
        row.label = METHODS[row.method].label if row.method in METHODS else row.method
        row.counts = counts[row.pk]
    return render(request, "generation/runs.html", {"page": page})
