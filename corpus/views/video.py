"""One video: the player, what decoding said of it, its captions with their items."""

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus.access import get_video
from corpus.models import Item
from projects.models import Role


@require_safe
def video(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_video(request.user, slug, pk, Role.RESEARCHER)
    request.project = found.project
    items = Item.objects.select_related("subtest").prefetch_related("foils").order_by("id")
    captions = found.captions.prefetch_related(Prefetch("items", items)).order_by("id")
    return render(request, "corpus/video.html", {"video": found, "captions": captions})
