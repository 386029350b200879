"""A scoring run stopped and taken up again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluation.scoring.access import get_run
from evaluation.scoring.actions.resume_run import resume_run as resume
from evaluation.scoring.actions.stop_run import stop_run as stop


@require_POST
def stop_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_run(request.user, slug, pk)
    request.project = found.release.project
    stop(request.user, found)
    messages.success(request, _("The run is stopped. What is scored stays."))
    return redirect("scoring:run", found.release.project.slug, found.pk)


@require_POST
def resume_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_run(request.user, slug, pk)
    request.project = found.release.project
    resume(request.user, found)
    messages.success(request, _("The run goes on."))
    return redirect("scoring:run", found.release.project.slug, found.pk)
