"""The studies of a project: the human baseline and object checks, the forms that open them, the page of one check."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import object_check_for
from annotation.actions.studies.classify_object import classify_object
from annotation.actions.studies.import_objects import ask_for_nouns
from annotation.actions.studies.open_baseline import open_baseline
from annotation.actions.studies.open_object_check import open_object_check
from annotation.errors import AnnotationError
from annotation.forms import BaselineForm, ObjectCheckForm
from annotation.models import ObjectErrorClass, Stage, Task, TaskState
from annotation.queries.object_checks import checks_of, next_unseen
from annotation.views._undo_bar import MAX_ID_DIGITS
from projects.access import get_project
from projects.models import Project, Role


@require_http_methods(["GET", "HEAD", "POST"])
def studies(request: HttpRequest, slug: str) -> HttpResponse:
    """POST with `study` opens one of them."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    sent = request.POST if request.method == "POST" else None
    of_objects = request.POST.get("study") == "objects"
    shown = {
        "baseline_form": BaselineForm(None if of_objects else sent, project=project, prefix="baseline"),
        "objects_form": ObjectCheckForm(sent if of_objects else None, project=project, prefix="objects"),
    }
    if sent is not None:
        form, write = (shown["objects_form"], _open_check) if of_objects else (shown["baseline_form"], _open_baseline)
        if _opened(request, form, write):
            return redirect("annotation:studies", slug)
    context = {**shown, "checks": checks_of(project), "baseline": _baseline(project)}
    bad = any(form.errors for form in shown.values())
    return render(request, "annotation/studies.html", context, status=422 if bad else 200)


@require_POST
def caption_objects(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks for the nouns of the captions as objects."""
    ask_for_nouns(request.user, get_project(request.user, slug, Role.RESEARCHER))
    messages.success(request, _("The nouns of the captions are being read; reload in a moment."))
    return redirect("annotation:studies", slug)


def _opened(request: HttpRequest, form: forms.Form, write: Callable[[HttpRequest, dict[str, Any]], str]) -> bool:
    if not form.is_valid():
        return False
    try:
        messages.success(request, write(request, form.cleaned_data))
    except AnnotationError as error:
        form.add_error(None, str(error))
        return False
    return True


def _open_baseline(request: HttpRequest, chosen: dict[str, Any]) -> str:
    n = open_baseline(request.user, request.project, **chosen)
    return ngettext("%(n)s item waits for people.", "%(n)s items wait for people.", n) % {"n": n}


def _open_check(request: HttpRequest, chosen: dict[str, Any]) -> str:
    open_object_check(request.user, request.project, chosen.pop("source"), **chosen)
    return _("The frames are drawn; people can look at each as soon as its picture is made.")


def _baseline(project: Project) -> dict[str, int]:
    tasks = Task.objects.filter(project=project, stage=Stage.BASELINE).exclude(state=TaskState.CANCELLED)
    return tasks.aggregate(asked=Count("pk"), done=Count("pk", filter=Q(state=TaskState.DONE)))


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
