"""One queue: how much waits or why nothing does; POST takes the next piece."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.workflow.make_tasks import MAX_GROUPS_PER_CALL, make_tasks
from annotation.models import QualityPolicy
from annotation.queries.decision_queues import desks_of
from annotation.views._undo_bar import done_bar
from annotation.views._work_pages import next_piece
from annotation.work_queues import queue_of, queues_of
from projects.access import get_project


@require_http_methods(["GET", "HEAD", "POST"])
def queue(request: HttpRequest, slug: str, stage: str) -> HttpResponse:
    if stage not in ROLE_OF_STAGE:
        raise Http404(_("There is no such queue."))
    project = request.project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    if request.method == "POST":
        return next_piece(request, project, stage)
    make_tasks(project, limit=MAX_GROUPS_PER_CALL)
    context = {"queue": queue_of(request.user, project, stage), "done": done_bar(request)}
    return render(request, "annotation/queue.html", context)


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
