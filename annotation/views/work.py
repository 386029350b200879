"""The landing page of work: the person's queues in a project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.actions.workflow.make_tasks import MAX_GROUPS_PER_CALL, make_tasks
from annotation.models import QualityPolicy
from annotation.queries.decision_queues import desks_of
from annotation.work_queues import queues_of
from projects.access import get_project


@require_safe
def work(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    make_tasks(project, limit=MAX_GROUPS_PER_CALL)
    context = {
        "queues": queues_of(request.user, project),
        "desks": desks_of(request.user, project),
        "practice": QualityPolicy.objects.filter(project=project, practice_open=True).exists(),
    }
    return render(request, "annotation/work.html", context)
