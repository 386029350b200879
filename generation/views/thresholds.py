"""A run's thresholds: look what would pass elsewhere, and move them. No model runs."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from generation.access import get_run
from generation.actions.move_thresholds import move_thresholds
from generation.errors import GenerationError
from generation.models import GenerationRun
from generation.thresholds.arithmetic import preview
from generation.thresholds.page import ThresholdForm, examples, filter_rows
from projects.access import enter_project


@require_http_methods(["GET", "HEAD", "POST"])
def thresholds(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    asked = request.POST if request.method == "POST" else request.GET
    form = ThresholdForm(found, asked if asked else None)
    partial = bool(request.headers.get("HX-Request"))
    context: dict[str, Any] = {"run": found, "form": form, "partial": partial}
    if request.method == "POST" and form.is_valid():
        try:
            done = move_thresholds(request.user, found, form.thresholds())
        except GenerationError as error:
            context["problem"] = str(error)
        else:
            messages.success(request, _("%(back)s came back, %(left)s were held back.") % _counts(done))
            return redirect("generation:thresholds", found.project.slug, found.pk)
    context |= _answer(found, form)
    template = "generation/_thresholds.html" if partial else "generation/thresholds.html"
    return render(request, template, context, status=422 if request.method == "POST" else 200)


def _counts(done: Any) -> dict[str, int]:
    return {"back": done.n_back, "left": done.n_leave}


def _answer(run: GenerationRun, form: ThresholdForm) -> dict[str, Any]:
    try:
        found = preview(run, form.thresholds())
    except GenerationError as error:
        return {"why": str(error)}
    rows, shown = filter_rows(run, found), examples(found)
    return {"preview": found, "rows": rows, "examples": shown, "edits": run.project.edit_stage}
