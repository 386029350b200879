"""What the player is told of a video."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from corpus.models import MediaState, Video


def player_clip(video: Video) -> dict[str, Any]:
    """The `clip` of templates/foilworks/_player.html; `video.project` should be loaded.

    Times are seconds. Attaching a file turns a trim in pts into seconds; one that is still in pts has no file, and at
    an external address, whose time base nobody knows, the whole video plays.
    """
    in_seconds = video.time_unit == "sec"
    return {
        "src": _source(video),
        "fps": video.fps,
        "n_frames": video.n_frames,
        "start": video.start_time if in_seconds else None,
        "end": video.end_time if in_seconds else None,
        "width": video.width,
        "height": video.height,
        "warning": video.content_warning,
        "label": _("Video %(key)s") % {"key": video.key},
    }


def stream_url(slug: str, video_id: int) -> str:
    """Where our own stream of a video of the project is."""
    return reverse("corpus:media", args=[slug, video_id])


def _source(video: Video) -> str:
    """Our own stream of the file; a URL is resolved by the browser only, and only where it is https."""
    if video.file and video.media_state == MediaState.READY:
        return stream_url(video.project.slug, video.pk)
    return video.url if video.url.startswith("https://") else ""
