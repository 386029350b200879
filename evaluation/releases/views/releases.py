"""The releases of a project, and the form that freezes one."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from corpus.models import Release
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.forms import FreezeForm
from evaluation.releases.freezable import freezable, left_out
from evaluation.releases.gate_preview import gate_preview
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
            messages.success(request, _("%(name)s is frozen; what it holds stands below.") % {"name": release.name})
            return redirect("releases:release", project.slug, release.pk)
    content = freezable(project)
    n_valid = sum(row.n_valid for row in content)
    context = {
        "form": form,
        "content": content,
        "n_valid": n_valid,
        "left_out": left_out(content),
        "gate": gate,
    }
    return render(request, "evaluation/freeze.html", context, status=422 if form.errors else 200)
