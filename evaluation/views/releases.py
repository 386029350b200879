"""The releases of a project, and the form that freezes one."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from corpus.models import Release
from evaluation import overview
from evaluation.actions.freeze_release import freeze_release
from evaluation.blind_page import gate_preview
from evaluation.errors import EvaluationError
from evaluation.forms import FreezeForm
from projects.access import get_project
from projects.models import Role


@require_safe
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = Release.objects.filter(project=project).annotate(n_runs=Count("runs")).order_by("-id")
    return render(request, "evaluation/releases.html", {"releases": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    gate = gate_preview(project)
    form = FreezeForm(request.POST if request.method == "POST" else None, gate=gate)
    if request.method == "POST" and form.is_valid():
        try:
            release = freeze_release(request.user, project, **form.cleaned_data)
        except EvaluationError as error:
            form.add_error("override" if "override" in form.fields else "name", str(error))
        else:
            messages.success(request, _("%(name)s holds the valid items as they are now.") % {"name": release.name})
            return redirect("evaluation:release", project.slug, release.pk)
    context = {"form": form, "content": overview.freezable(project), "gate": gate}
    return render(request, "evaluation/freeze.html", context, status=422 if form.errors else 200)
