"""What the player is told of a video."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from corpus.models import MediaState, Video
from corpus.video_files.clip_tokens import Piece, clip_token


def player_clip(video: Video) -> dict[str, Any]:
    """Return the `clip` of foilworks/templates/foilworks/_player.html for people who may know which video it is.

    `video.project` should be loaded. Times are seconds. Attaching a file turns a trim in pts or frames into seconds;
    one that is still in them has no file, and at an external address, whose clock nobody knows, the whole video plays.
    """
    return _clip(video, _source(video), _("Video %(key)s") % {"key": video.key})


def blind_clip(video: Video, person_id: int, piece: Piece, number: int) -> dict[str, Any]:
    """Return the same for a page of work: neither its address nor its label says which video it is."""
    address = clip_url(video.project.slug, video.pk, person_id, piece, number) if _source(video) else ""
    return _clip(video, address, _("Video"))


def _clip(video: Video, source: str, label: str) -> dict[str, Any]:
    in_seconds = video.time_unit == "sec"
    return {
        "src": source,
        "fps": video.fps,
        "n_frames": video.n_frames,
        "start": video.start_time if in_seconds else None,
        "end": video.end_time if in_seconds else None,
        "width": video.width,
        "height": video.height,
        "warning": video.content_warning,
        "label": label,
    }


def clip_url(slug: str, video_id: int, person_id: int, piece: Piece, number: int) -> str:
    """Return where the person is served the clip for this piece of work."""
    return reverse("corpus:clip", args=[slug, clip_token(video_id, person_id, piece, number)])


def stream_url(slug: str, video_id: int) -> str:
    """Where our own stream of a video of the project is."""
    return reverse("corpus:media", args=[slug, video_id])


def _source(video: Video) -> str:
    """Our own way to the file; an address elsewhere is resolved by the browser only, and only on a host we allow."""
    if video.file and video.media_state == MediaState.READY:
        return stream_url(video.project.slug, video.pk)
    return video.url if plays_elsewhere(video.url) else ""


def plays_elsewhere(url: str) -> bool:
    """Whether browsers may play a video from there: its host is one of MEDIA_HOSTS, as the policy of content says."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower() in settings.MEDIA_HOSTS
