"""The form of a new generation run; its parameters change with the method."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import get_run
from generation.actions.start_run import start_run
from generation.forms import RunForm
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def new_run(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    like = request.GET.get("like", "")
    form = RunForm(
        project,
        request.POST if request.method == "POST" else None,
        method=request.GET.get("method", ""),
        like=get_run(request.user, slug, int(like)) if like.isdecimal() and len(like) < 19 else None,
    )
    if request.method == "POST" and form.is_valid():
        run = start_run(
            request.user,
            project,
            subtest=form.cleaned_data["subtest"],
            method=form.cleaned_data["method"],
            mode=form.cleaned_data["mode"],
            params=form.params.values(),
            filters=form.chosen_filters(),
            seed=form.cleaned_data["seed"],
            selection=form.selection(),
        )
        messages.success(request, _("The run has started."))
        return redirect("generation:run", project.slug, run.pk)
    return render(request, "generation/new_run.html", {"form": form}, status=422 if request.method == "POST" else 200)


@require_safe
def method_fields(request: HttpRequest, slug: str) -> HttpResponse:
    """The parts of the form that belong to the method chosen in `?method=`: its parameters, and its usual filters."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = RunForm(project, method=request.GET.get("method", ""))
    return render(request, "generation/_method_answer.html", {"form": form})
