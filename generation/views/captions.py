"""Captions made where a source has none: choose a maker, look at what it would make, have it stored."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation.access import get_caption_run
from generation.actions import make_captions as actions
from generation.captioning.registry import CAPTIONERS
from generation.forms import CaptionForm
from generation.models.side_work import CaptionRun
from projects.access import enter_project, get_project
from projects.live_pages import render_live
from projects.models import Role

PER_PAGE = 20


@require_http_methods(["GET", "HEAD", "POST"])
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """The form of a new look, and the looks there were, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = CaptionForm(request.POST if request.method == "POST" else None, maker=request.GET.get("maker", ""))
    if request.method == "POST" and form.is_valid():
        given = {name: form.cleaned_data[name] for name in ("maker", "mode", "sources", "split", "seed")}
        run = actions.preview_captions(request.user, project, params=form.params.values(), **given)
        return redirect("generation:caption_run", project.slug, run.pk)
    rows = CaptionRun.objects.filter(project=project).select_related("job").order_by("-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.label = CAPTIONERS[row.maker].label if row.maker in CAPTIONERS else row.maker
    status = 422 if request.method == "POST" else 200
    return render(request, "generation/captions.html", {"form": form, "page": page}, status=status)


@require_safe
def maker_fields(request: HttpRequest, slug: str) -> HttpResponse:
    """The parameters of the maker chosen in `?maker=`."""
    request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "generation/_maker_fields.html", {"form": CaptionForm(maker=request.GET.get("maker", ""))})


@require_safe
def caption_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What the maker makes; `?part=1` is the live part alone, which asks for itself while the job is alive."""
    found = enter_project(request, get_caption_run(request.user, slug, pk))
    part = request.GET.get("part") == "1"
    template = "generation/_caption_run.html" if part else "generation/caption_run.html"
    skipped = sorted(found.skipped.items(), key=lambda pair: -pair[1])
    context = {"run": found, "entry": CAPTIONERS.get(found.maker), "skipped": skipped}
    return render_live(request, template, context, refresh=bool(part and found.job and found.job.is_over))


@require_POST
def make_captions(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Have the captions stored that the preview showed the first of."""
    found = enter_project(request, get_caption_run(request.user, slug, pk))
    actions.make_captions(request.user, found)
    messages.success(request, _("The captions are being made."))
    return redirect("generation:caption_run", found.project.slug, found.pk)
