"""Text-to-text models tuned on the project's train captions: start one, watch its loss, find its folder."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import get_tuning
from generation.actions.start_tuning import start_tuning
from generation.models.side_work import Tuning
from generation.tuning.loss_curve import loss_curve
from generation.tuning.parameters import TUNING
from projects.access import enter_project, get_project
from projects.forms.registry_entry import EntryForm
from projects.live_pages import render_live
from projects.models import Role

PER_PAGE = 20


@require_http_methods(["GET", "HEAD", "POST"])
def tunings(request: HttpRequest, slug: str) -> HttpResponse:
    """The form of a new tuning, and those there were, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = EntryForm(TUNING, request.POST if request.method == "POST" else None, prefix="tuning")
    if request.method == "POST" and form.is_valid():
        tuning = start_tuning(request.user, project, params=form.values())
        return redirect("generation:tuning", project.slug, tuning.pk)
    rows = Tuning.objects.filter(project=project).select_related("job").order_by("-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    status = 422 if request.method == "POST" else 200
    return render(request, "generation/tunings.html", {"form": form, "entry": TUNING, "page": page}, status=status)


@require_safe
def tuning(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One tuning; `?part=1` is the live part alone, which asks for itself while the job is alive."""
    found = enter_project(request, get_tuning(request.user, slug, pk))
    part = request.GET.get("part") == "1"
    context = {"tuning": found, "curve": loss_curve(found.losses)}
    return render_live(
        request,
        "generation/_tuning.html" if part else "generation/tuning.html",
        context,
        refresh=bool(part and found.job and found.job.is_over),
    )
