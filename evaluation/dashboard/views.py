"""A project at a glance. Researchers see all of it; everybody else their own work."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.models import Stage
from annotation.queries.queues import open_work, work_counts
from corpus.models import Release
from evaluation.dashboard import overview
from evaluation.dashboard.page import context
from evaluation.dashboard.stored_count import counted
from projects.access import get_project, roles_in
from projects.models import Project, Role, User

N_RELEASES = 5


@require_safe
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    if Role.RESEARCHER in roles_in(request.user, project):
        return render(request, "evaluation/dashboard.html", _everything(project))
    return render(request, "evaluation/dashboard.html", {"work": _work(request.user, project)})


@require_safe
def dashboard_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """The live part: asks for itself again while a job is alive."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/_runs.html", _runs(project))


@require_safe
def dashboard_count(request: HttpRequest, slug: str) -> HttpResponse:
    """The numbers, which ask for themselves again: soon while a count is under way, else once a minute."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/_count.html", context(project, counted(project)))


def _everything(project: Project) -> dict[str, Any]:
    return {
        "releases": Release.objects.filter(project=project)[:N_RELEASES],
        **context(project, counted(project)),
        **_runs(project),
    }


def _runs(project: Project) -> dict[str, Any]:
    runs = overview.recent_runs(project)
    return {"runs": runs, "is_live": any(run.job and not run.job.is_over for run in runs)}


def _work(person: User, project: Project) -> list[dict[str, Any]]:
    """The stages that the person's roles open: what waits for them, what they have done."""
    stages, now = overview.stages_of(roles_in(person, project)), timezone.now()
    if stages:
        overview.lay_out({project: stages})
    return [
        {
            "stage": stage,
            "label": Stage(stage).label,
            "open": open_work(person, project, stage, now=now),
            "done": work_counts(person, project, stage, now),
        }
        for stage in stages
    ]
