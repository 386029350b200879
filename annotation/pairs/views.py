"""The page of proposed pairs: the form, the job, and the pairs of the project."""

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.errors import AnnotationError
from annotation.pairs.actions.store_pairs import ask_for_pairs, jobs_of
from annotation.pairs.forms import ProposeForm, subtests_for_pairs
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.access import get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Project, Role

# Two items each.
ITEMS_PER_PAGE = 20


@require_http_methods(["GET", "HEAD", "POST"])
def pairs(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form and the pairs; POST queues the job. `?part=1` shows only the job, which polls while active."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    job = jobs_of(project).first()
    if request.method != "POST" and request.GET.get("part") == "1":
        return render_live(request, "annotation/_pairs_job.html", {"job": job}, refresh=bool(job and job.is_over))
    form = ProposeForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        try:
            ask_for_pairs(request.user, form.cleaned_data["subtest"], form.cleaned_data["kind"])
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Proposing up to 100 new pairs."))
            return redirect("pairs:pairs", project.slug)
    items = Item.objects.filter(project=project, pair__gt="").order_by("subtest", "pair", "key")
    page = Paginator(items.select_related("caption", "subtest", "video"), ITEMS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {"form": form, "job": job, "page": page, "pairs": _pairs(page), "closed": _why_closed(project)}
    return render(request, "annotation/pairs.html", context, status=422 if request.method == "POST" else 200)


def _pairs(items: Any) -> list[dict[str, Any]]:
    """Return the items of each pair together, in the order of the page."""
    grouped = groupby(items, key=lambda item: (item.subtest, item.pair))
    return [{"name": name, "subtest": subtest, "items": list(pair_items)} for (subtest, name), pair_items in grouped]


def _why_closed(project: Project) -> str:
    if not Caption.objects.filter(video__project=project).exists():
        return _("There are no captions yet. Import videos with captions first.")
    if not subtests_for_pairs(project).exists():
        return _("No subtest fits. Create a main subtest with one foil per item and at least one vote.")
    return ""
