"""The releases of a project, and the form that freezes one."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from corpus.access import get_release
from corpus.models import Release
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.changes import changes, previous_of, shifts
from evaluation.releases.forms import FreezeForm
from evaluation.releases.freezable import freezable, gate_preview, left_out
from projects.access import enter_project, get_project
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


MAX_LISTED = 50


@require_safe
def release_changes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Against the one before it, or the one that `?from=` names."""
    found = enter_project(request, get_release(request.user, slug, pk))
    earlier = Release.objects.filter(project=found.project, pk__lt=found.pk).order_by("-pk")
    asked = request.GET.get("from", "")
    before = get_object_or_404(earlier, pk=int(asked)) if asked.isdecimal() and len(asked) < 19 else previous_of(found)
    context = {"release": found, "before": before, "earlier": earlier, "most": MAX_LISTED}
    if before is not None:
        context |= {"changes": changes(before, found), "shifts": shifts(before, found)}
    return render(request, "evaluation/changes.html", context)
