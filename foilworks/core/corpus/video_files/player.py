"""The player's data about a video, and the addresses of clips on pages of work.

These addresses are opaque to anyone who works, and different for every task. A row number would reveal how old a clip
is, and with it which tasks have a known answer. A token is the clip's number, the person and the task, encrypted with a
key made from SECRET_KEY (AES-SIV, RFC 5297). The same task always has the same token, so the page that loads the next
clip ahead and the page that shows it use one address.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import IntEnum
from functools import lru_cache
from struct import Struct
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.media.clock import Clock, even_clock, unpacked
from foilworks.core.projects.keys import valid_keys

# Clip, person, kind of task, number of the task.
_CONTENT = Struct(">QQBQ")
_TAG_BYTES = 16
_PADDING = "=" * (-(_CONTENT.size + _TAG_BYTES) * 4 // 3 % 4)


class Piece(IntEnum):
    """The kind of task that shows a clip. The values are part of tokens in open pages."""

    SLOT = 1
    QUESTION = 2
    ITEM = 3
    PAIR = 4


def clip_token(video_id: int, person_id: int, piece: Piece, number: int) -> str:
    """Return the token under which the person is served the clip for this task; all tokens are equally long."""
    content = _CONTENT.pack(video_id, person_id, piece, number)
    return urlsafe_b64encode(_cipher(settings.SECRET_KEY).encrypt(content, None)).decode().rstrip("=")


def read_clip_token(token: str, person_id: int) -> int | None:
    """Return the number of the clip; None for what is not a token, or that of somebody else."""
    for key in valid_keys():
        try:
            content = _cipher(key).decrypt(urlsafe_b64decode(token + _PADDING), None)
        except (InvalidTag, ValueError):
            continue
        video_id, owner_id, _piece, _number = _CONTENT.unpack(content)
        return video_id if owner_id == person_id else None
    return None


@lru_cache(maxsize=8)
def _cipher(secret_key: str) -> AESSIV:
    return AESSIV(salted_hmac("foilworks.clip-tokens", "", secret=secret_key, algorithm="sha512").digest())


def player_clip(video: Video) -> dict[str, Any]:
    """Return the `clip` of templates/foilworks/_player.html for people who may know which video it is.

    `video.project` should be loaded. Times are seconds. Attaching a file turns a trim in pts or frames into seconds;
    one that is still in them has no file, and at an external address, whose clock nobody knows, the whole video plays.
    `times` is the packed clock, `first` and `last` the numbers of the frames that the trim shows, `is_exact` whether it
    was read from the file.
    """
    return _clip(video, _source(video), _("Video %(key)s") % {"key": video.key})


def blind_clip(video: Video, person_id: int, piece: Piece, number: int) -> dict[str, Any]:
    """Return the same for a page of work: neither its address nor its label says which video it is."""
    address = clip_url(video.project.slug, video.pk, person_id, piece, number) if has_source(video) else ""
    return _clip(video, address, _("Video"))


def has_source(video: Video) -> bool:
    """Return whether browsers can play the video: from here, or from a host we allow."""
    return _is_ours(video) or plays_elsewhere(video.url)


def trim_in_seconds(video: Video) -> tuple[float | None, float | None]:
    """Return start and end of the part to show; None for a part that is not in seconds."""
    return (video.start_time, video.end_time) if video.time_unit == "sec" else (None, None)


def _clip(video: Video, source: str, label: str) -> dict[str, Any]:
    start, end = trim_in_seconds(video)
    clock = clip_clock(video)
    first, last = clock.frames_within(start, end) if clock else (None, None)
    return {
        "src": source,
        "times": clock.packed() if clock else "",
        "first": first,
        "last": last,
        "is_exact": bool(video.frame_times),
        "start": start,
        "end": end,
        "width": video.width,
        "height": video.height,
        "warning": video.content_warning,
        "label": label,
    }


def clip_clock(video: Video) -> Clock | None:
    """Return the clock of the video's file; a constant rate for files stored before clocks existed. None: no file."""
    if video.frame_times:
        return unpacked(video.frame_times)
    return even_clock(video.n_frames, video.fps) if video.n_frames and video.fps else None


def clip_url(slug: str, video_id: int, person_id: int, piece: Piece, number: int) -> str:
    """Return where the person is served the clip for this task."""
    return reverse("corpus:clip", args=[slug, clip_token(video_id, person_id, piece, number)])


def stream_url(slug: str, video_id: int) -> str:
    """Return the address of our own stream of a project's video."""
    return reverse("corpus:media", args=[slug, video_id])


def _source(video: Video) -> str:
    """Our own way to the file; an address elsewhere is resolved by the browser only, and only on a host we allow."""
    if _is_ours(video):
        return stream_url(video.project.slug, video.pk)
    return video.url if plays_elsewhere(video.url) else ""


def _is_ours(video: Video) -> bool:
    return bool(video.file) and video.media_state == MediaState.READY


def plays_elsewhere(url: str) -> bool:
    """Return whether browsers may play a video from there: its host is one of MEDIA_HOSTS."""
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}".lower() in settings.MEDIA_HOSTS
