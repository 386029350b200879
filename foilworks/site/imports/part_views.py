"""Take files of imports in parts: the server side of tus 1.0.0, and addresses of parts in an object store."""

import base64
import binascii
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.errors import EvaluationError
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.imports.file_parts import ArrivingFile, Busy, announce, arriving_file, check_size
from foilworks.site.imports.object_parts import ArrivingObject, goes_to_store

VERSION = "1.0.0"
PART = "application/offset+octet-stream"


@require_POST
def new_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Announce a file by its name and size; its first part may be in the same request."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    size, name = request.headers.get("Upload-Length", ""), _name_of(request.headers.get("Upload-Metadata", ""))
    if not (size.isascii() and size.isdecimal() and name):
        return _reply(400, _("A file is announced by Upload-Length and the filename of Upload-Metadata."))
    try:
        check_size(name, int(size))
        if goes_to_store(name, int(size)):
            file_in_store = ArrivingObject.begun(request.user, project, name, int(size))
            reply = _reply(201, offset=0)
            reply["Location"] = reverse("imports:object", args=(slug, file_in_store.token))
            return reply
        file = announce(request.user, project, name, int(size))
    except EvaluationError as error:
        return _reply(413, str(error))
    except OSError as error:
        return _not_stored(error)
    address = reverse("imports:file", args=(slug, file.token))
    reply = _append(request, file, 0, 201) if request.content_type == PART else _reply(201, offset=0)
    reply["Location"] = address
    return reply


@require_http_methods(["HEAD", "PATCH", "DELETE"])
def file_part(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Say how much of a file has arrived, take its next part, or remove it."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    try:
        file = arriving_file(request.user, project, token)
        if request.method == "HEAD":
            return _reply(200, offset=file.offset, size=file.size)
        if request.method == "DELETE":
            file.path.unlink()
            return _reply(204)
        offset = request.headers.get("Upload-Offset", "")
        if request.content_type != PART or not (offset.isascii() and offset.isdecimal()):
            return _reply(415, _("A part has the type %(type)s and its Upload-Offset.") % {"type": PART})
        return _append(request, file, int(offset), 204)
    except FileNotFoundError:
        return _reply(404, _("The file was removed. Choose it again."))


@require_http_methods(["HEAD", "GET", "DELETE"])
def object_part(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Say how much of a file has arrived in the object store, where its next part goes, or remove it."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    offset = request.GET.get("offset", "")
    try:
        file = ArrivingObject.of_token(request.user, project, token)
        if request.method == "DELETE":
            file.remove()
            return _reply(204)
        if request.method == "HEAD":
            return _reply(200, offset=file.offset, size=file.size)
        if not (offset.isascii() and offset.isdecimal() and int(offset) < file.size):
            return _reply(400, _("A part has an offset below the size of its file."))
        return _reply(200, file.part_address(int(offset)))
    except FileNotFoundError:
        return _reply(404, _("The file was removed. Choose it again."))
    except OSError as error:
        return _not_stored(error)


def _append(request: HttpRequest, file: ArrivingFile, offset: int, status: int) -> HttpResponse:
    try:
        return _reply(status, offset=file.append(request, offset))
    except Busy as error:
        return _reply(409, str(error))
    except EvaluationError as error:
        return _reply(413, str(error))
    except FileNotFoundError:
        raise
    except OSError as error:
        # A connection that ended: what has arrived stays.
        return _not_stored(error)


def _not_stored(error: OSError) -> HttpResponse:
    return _reply(503, _("The part cannot be stored (%(why)s).") % {"why": error.strerror or error})


def _name_of(metadata: str) -> str:
    """Return the file name among the pairs of tus, names and Base64 values; "" if it is unreadable."""
    pairs = dict(pair.strip().partition(" ")[::2] for pair in metadata.split(","))
    try:
        return base64.b64decode(pairs.get("filename", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _reply(status: int, problem: str = "", *, offset: int | None = None, size: int | None = None) -> HttpResponse:
    headers: dict[str, Any] = {"Tus-Resumable": VERSION, "Cache-Control": "no-store"}
    headers |= {} if offset is None else {"Upload-Offset": str(offset)}
    headers |= {} if size is None else {"Upload-Length": str(size)}
    return HttpResponse(problem, status=status, headers=headers, content_type="text/plain; charset=utf-8")
