"""Selections: asked for, looked at, applied."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import get_selection
from generation.actions.apply_selection import apply_selection
from generation.actions.start_selection import start_selection
from generation.errors import GenerationError
from generation.models import Selection
from generation.selections.forms import SelectionForm
from projects.access import enter_project, get_project
from projects.live_pages import render_live
from projects.models import Role
from text.diff import diff_segments

PER_PAGE = 30


@require_http_methods(["GET", "HEAD", "POST"])
def selections(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    initial = {name: request.GET[name] for name in ("subtest", "run", "kind") if request.GET.get(name)}
    form = SelectionForm(project, request.POST if request.method == "POST" else None, **initial)
    if request.method == "POST" and form.is_valid():
        asked = dict(form.cleaned_data)
        try:
            chosen = start_selection(request.user, asked.pop("subtest"), asked.pop("kind"), **asked)
        except GenerationError as error:
            form.add_error("kind", str(error))
        else:
            return redirect("generation:selection", project.slug, chosen.pk)
    rows = Selection.objects.filter(project=project).select_related("subtest", "run", "job").order_by("-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "query": ""}
    return render(request, "generation/selections.html", context, status=422 if request.method == "POST" else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """GET shows what it would do, POST applies it."""
    chosen = enter_project(request, get_selection(request.user, slug, pk))
    context: dict[str, Any] = {"chosen": chosen}
    if request.method == "POST":
        try:
            apply_selection(request.user, chosen)
        except GenerationError as error:
            context["problem"] = str(error)
        else:
            messages.success(request, _("Applied."))
            return redirect("generation:selection", slug, pk)
    if chosen.result:
        context["examples"] = [diff_segments(*pair) for pair in chosen.result["examples"]]
    return render(request, "generation/selection.html", context, status=422 if request.method == "POST" else 200)


@require_safe
def selection_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The live part: asks for itself again while the job is alive, then for the whole page."""
    chosen = enter_project(request, get_selection(request.user, slug, pk))
    return render_live(
        request,
        "generation/_selection_progress.html",
        {"chosen": chosen},
        refresh=bool(chosen.job and chosen.job.is_over),
    )
