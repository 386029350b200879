"""The generation runs of a project, newest first."""

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus.rules.states import CandidateState
from generation.methods.table import METHODS
from generation.models import GenerationRun
from projects.access import get_project
from projects.models import Role

PER_PAGE = 30


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = GenerationRun.objects.filter(project=project).select_related("subtest", "job", "created_by")
    page = Paginator(rows.annotate(**_counts()), PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.label = METHODS[row.method].label if row.method in METHODS else row.method
    return render(request, "generation/runs.html", {"page": page})


def _counts() -> dict[str, Count]:
    state = "groups__candidates__state"
    rejected = Q(**{state: CandidateState.FILTERED_OUT})
    return {
        "n_candidates": Count("groups__candidates"),
        "n_rejected": Count("groups__candidates", filter=rejected),
        "n_accepted": Count("groups__candidates", filter=Q(**{state: CandidateState.ACCEPTED})),
    }
