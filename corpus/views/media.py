"""The file of a video, for the player; only the project's members get it."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from corpus.access import get_video
from corpus.video_files.streaming import stream_video


@require_safe
def media(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    return stream_video(request, get_video(request.user, slug, pk))
