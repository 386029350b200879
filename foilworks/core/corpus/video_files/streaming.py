"""A stored file as an HTTP answer that browsers can seek in: byte ranges, validators, HEAD.

Out of an object store, the way to it: a signed address that ends by itself, given to the person who may see the file.
"""

import mimetypes
from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models.fields.files import FieldFile
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.utils.translation import gettext as _

from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.player import plays_elsewhere
from foilworks.core.corpus.video_files.stored_files import is_local
from foilworks.core.media.ranges import ByteRange, UnsatisfiableRangeError, iter_bytes, parse_range
from foilworks.core.projects.access import secret_seed

# The name decides the type, so only types that a browser plays or shows are sent as such; others are downloads.
PLAYABLE = frozenset({"video/mp4", "video/webm", "video/ogg", "video/quicktime", "video/x-matroska", "image/jpeg"})

# How long a browser keeps a file, or the way to it.
CACHE_SECONDS = 600


def stream_video(request: HttpRequest, video: Video, *, blind: bool = False) -> HttpResponseBase:
    """Send the video's file, or the way to where it is elsewhere. Http404 if it has neither.

    `blind`: for a page of work. No header depends on the file but its type and length; see `_stream_blind`.
    """
    if video.file and blind:
        return _stream_blind(request, video.file)
    if video.file:
        return stream_file(request, video.file, video.sha256)
    if plays_elsewhere(video.url):
        return HttpResponseRedirect(video.url)
    raise Http404(_("This video has no file yet. Upload it, or attach it with “foilworks attach”."))


def stream_file(request: HttpRequest, stored: FieldFile, digest: str = "") -> HttpResponseBase:
    """200, 206, 304, 412 or 416 for GET and HEAD; Http404 when the storage has lost the file.

    `digest` (the file's SHA-256, where known) becomes its ETag; without it size and time of change do. 302 to the
    object store, where files are in one; what is not there is its 404.
    """
    if not is_local():
        return _redirect_to_store(request, stored)
    try:
        size, modified = stored.size, stored.storage.get_modified_time(stored.name)
    except FileNotFoundError as error:
        raise Http404(_("The file of this video is missing from the storage. Attach it again.")) from error
    etag = f'"{digest or f"{size:x}-{modified.timestamp():.6f}"}"'
    response = get_conditional_response(request, etag, int(modified.timestamp()))
    if response is None:
        response = _answer(request, stored, size, _requested_range(request, etag, modified))
    response.headers["Last-Modified"] = http_date(modified.timestamp())
    return _cached(response, etag)


def _stream_blind(request: HttpRequest, stored: FieldFile) -> HttpResponseBase:
    """Send the file under an ETag of this address alone, without the time of its last change.

    A file in an object store passes through here as well: the store's answer says when the object was written, and
    its name is the same for everybody (docs/decisions/0073-clips-of-work.md).
    """
    try:
        size = stored.size
    except FileNotFoundError as error:
        raise Http404(_("The file of this video is missing from the storage. Attach it again.")) from error
    etag = f'"{secret_seed("etag", request.path, stored.name)}"'
    response = get_conditional_response(request, etag)
    if response is None:
        response = _answer(request, stored, size, _requested_range(request, etag, None))
    return _cached(response, etag)


def _cached(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = f"private, max-age={CACHE_SECONDS}"
    return response


def _redirect_to_store(request: HttpRequest, stored: FieldFile) -> HttpResponse:
    """Redirect to the signed address, which the browser caches for a while."""
    content_type, is_playable = _content_type(stored.name)
    parameters = {"ResponseContentType": content_type, "ResponseCacheControl": f"private, max-age={CACHE_SECONDS}"}
    if not is_playable:
        parameters["ResponseContentDisposition"] = "attachment"
    method = "HEAD" if request.method == "HEAD" else "GET"
    response = HttpResponseRedirect(default_storage.signed_url(stored.name, parameters, method=method))
    response.headers["Cache-Control"] = f"private, max-age={min(CACHE_SECONDS, settings.MEDIA_URL_SECONDS // 4)}"
    return response


def _content_type(name: str) -> tuple[str, bool]:
    """Return the type that a file is sent as, and whether a browser may show it."""
    content_type = mimetypes.guess_type(name)[0]
    is_playable = content_type in PLAYABLE
    return content_type if content_type and is_playable else "application/octet-stream", is_playable


def _requested_range(request: HttpRequest, etag: str, modified: datetime | None) -> str | None:
    """Return the Range header, unless If-Range names another version: then the whole file is sent."""
    version = request.headers.get("If-Range", "").strip()
    versions = {"", etag} if modified is None else {"", etag, http_date(modified.timestamp())}
    return request.headers.get("Range") if version in versions else None


def _answer(request: HttpRequest, stored: FieldFile, size: int, range_header: str | None) -> HttpResponseBase:
    try:
        byte_range = parse_range(range_header, size)
    except UnsatisfiableRangeError as error:
        return HttpResponse(status=416, headers={"Content-Range": error.content_range})
    content_type, is_playable = _content_type(stored.name)
    headers = {"Content-Type": content_type}
    if not is_playable:
        headers["Content-Disposition"] = "attachment"
    headers["Content-Length"] = str(byte_range.length if byte_range else size)
    if byte_range:
        headers["Content-Range"] = byte_range.content_range(size)
    status = 206 if byte_range else 200
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    return StreamingHttpResponse(_chunks(stored, byte_range or ByteRange(0, size - 1)), status=status, headers=headers)


def _chunks(stored: FieldFile, byte_range: ByteRange) -> Iterator[bytes]:
    if not is_local() and byte_range.length:
        yield from stored.storage.read_range(stored.name, byte_range.start, byte_range.end)
        return
    # Opened at the first byte: an unread answer leaves no file open.
    yield from iter_bytes(stored.storage.open(stored.name, "rb"), byte_range)
