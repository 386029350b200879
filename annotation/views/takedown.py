"""Taking a video down: what it takes with it, the reason, and the step itself."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.actions.decisions.take_down_video import scope_of, take_down_video
from annotation.errors import AnnotationError
from corpus.access import get_video
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def takedown(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    video = get_video(request.user, slug, pk, Role.RESEARCHER)
    request.project, problem = video.project, ""
    reason = request.POST.get("reason", "")
    if request.method == "POST":
        try:
            taken = take_down_video(request.user, slug, pk, reason)
        except AnnotationError as error:
            problem = str(error)
        else:
            n = len(taken.clips)
            said = ngettext("%(n)d clip is taken down.", "%(n)d clips are taken down.", n) % {"n": n}
            messages.success(request, f"{said} {_('Exports made from now on withhold its items.')}")
            return redirect("corpus:video", slug, pk)
    context = {"video": video, "scope": scope_of(video), "reason": reason, "problem": problem}
    return render(request, "annotation/takedown.html", context, status=422 if problem else 200)
