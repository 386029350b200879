"""An object check for its researcher: the unseen objects one after the other, each put into its class."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import object_check_for
from annotation.actions.studies.classify_object import classify_object
from annotation.errors import AnnotationError
from annotation.models import ObjectErrorClass
from annotation.queries.object_checks import next_unseen
from annotation.views._undo_bar import MAX_ID_DIGITS
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def object_check(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    check = object_check_for(request.user, project, pk)
    if request.method == "POST":
        frame, place = (_number(request.POST.get(name, "")) for name in ("frame", "place"))
        try:
            classify_object(request.user, project, frame, place, request.POST.get("error_class", ""))
        except AnnotationError as error:
            messages.error(request, str(error))
        return redirect("annotation:object_check", slug, pk)
    context = {"check": check, "unseen": next_unseen(check), "classes": ObjectErrorClass.choices}
    return render(request, "annotation/object_check.html", context)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= MAX_ID_DIGITS else 0
