"""The file of a video, for the player; only the project's members get it."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from corpus.access import get_video
from corpus.streaming import stream_file


@require_safe
def media(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    video = get_video(request.user, slug, pk)
    if not video.file:
        raise Http404(_("This video has no file yet; import it with --media, or attach it."))
    return stream_file(request, video.file, video.sha256)
