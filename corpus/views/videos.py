"""The videos of a project: which have their file, which are missing or broken."""

from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus.forms import VideoFilter
from corpus.models import MediaState, Video
from projects.access import get_project
from projects.models import Role

PER_PAGE = 50


@require_safe
def videos(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    everything = Video.objects.filter(project=project)
    form = VideoFilter(request.GET)
    rows = form.narrow(everything).annotate(
        n_captions=Count("captions", distinct=True), n_items=Count("items", distinct=True)
    )
    context = {
        "form": form,
        "page": Paginator(rows.order_by("key", "id"), PER_PAGE).get_page(request.GET.get("page")),
        "states": _states(everything),
        "query": form.query(),
    }
    return render(request, "corpus/videos.html", context)


def _states(videos: QuerySet[Video]) -> list[tuple[str, str, int]]:
    """(state, label, how many) of the states that occur."""
    counts = dict(videos.values_list("media_state").annotate(Count("id")))
    return [(state, label, counts[state]) for state, label in MediaState.choices if state in counts]
