"""A stored file as an HTTP answer that browsers can seek in: byte ranges, validators, HEAD."""

import mimetypes
from collections.abc import Iterator
from datetime import datetime

from django.db.models.fields.files import FieldFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.utils.translation import gettext as _

from media.ranges import ByteRange, UnsatisfiableRangeError, iter_bytes, parse_range

# The name decides the type, so only what a browser plays or shows is sent as such; anything else becomes a download.
PLAYABLE = frozenset(
    {"video/mp4", "video/webm", "video/ogg", "video/quicktime", "video/x-matroska", "image/jpeg"}
)


def stream_file(request: HttpRequest, stored: FieldFile, digest: str = "") -> HttpResponseBase:
    """200, 206, 304, 412 or 416 for GET and HEAD; Http404 when the storage has lost the file.

    `digest` (the file's SHA-256, where known) becomes its ETag; without it size and time of change do.
    """
    try:
        size, modified = stored.size, stored.storage.get_modified_time(stored.name)
    except FileNotFoundError as error:
        raise Http404(_("The file of this video is gone; attach it again.")) from error
    etag = f'"{digest or f"{size:x}-{modified.timestamp():.6f}"}"'
    response = get_conditional_response(request, etag, int(modified.timestamp()))
    if response is None:
        response = _answer(request, stored, size, _asked_range(request, etag, modified))
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["ETag"] = etag
    response.headers["Last-Modified"] = http_date(modified.timestamp())
    response.headers["Cache-Control"] = "private, max-age=600"
    return response


def _asked_range(request: HttpRequest, etag: str, modified: datetime) -> str | None:
    """The Range header, unless If-Range names another version than ours: then the whole file must be sent."""
    version = request.headers.get("If-Range", "").strip()
    return request.headers.get("Range") if version in {"", etag, http_date(modified.timestamp())} else None


def _answer(request: HttpRequest, stored: FieldFile, size: int, asked: str | None) -> HttpResponseBase:
    try:
        wanted = parse_range(asked, size)
    except UnsatisfiableRangeError as error:
        return HttpResponse(status=416, headers={"Content-Range": error.content_range})
    content_type = mimetypes.guess_type(stored.name)[0]
    headers = {"Content-Type": content_type if content_type in PLAYABLE else "application/octet-stream"}
    if content_type not in PLAYABLE:
        headers["Content-Disposition"] = "attachment"
    headers["Content-Length"] = str(wanted.length if wanted else size)
    if wanted:
        headers["Content-Range"] = wanted.content_range(size)
    status = 206 if wanted else 200
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    chunks = _chunks(stored, wanted or ByteRange(0, size - 1))
    return StreamingHttpResponse(chunks, status=status, headers=headers)


def _chunks(stored: FieldFile, wanted: ByteRange) -> Iterator[bytes]:
    # Opened at the first byte: an answer that nobody reads leaves no file open.
    yield from iter_bytes(stored.storage.open(stored.name, "rb"), wanted)
