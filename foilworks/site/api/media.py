"""Serve the files of tasks: clips and still images, for members of their project."""

from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from ninja import Router

from annotation.access import checked_frame_for
from foilworks.core.corpus.access import get_clip, get_video
from foilworks.core.corpus.video_files.streaming import stream_file, stream_video
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import ALWAYS
from foilworks.site.api.shapes import ProblemDetails, Slug

router = Router(tags=["media"])
BINARY = {"schema": {"type": "string", "format": "binary"}}
KINDS = ("video/mp4", "video/webm", "image/jpeg", "application/octet-stream")
FILE = {"responses": {200: {"content": dict.fromkeys(KINDS, BINARY)}, 206: {"content": dict.fromkeys(KINDS, BINARY)}}}
STATUSES: dict[Any, Any] = {**dict.fromkeys((200, 206, 302, 304, 412, 416)), **dict.fromkeys(ALWAYS, ProblemDetails)}


@router.get("/videos/{int:pk}/media", response=STATUSES, openapi_extra=FILE)
def read_media(request: HttpRequest, slug: Slug, pk: int) -> Any:
    """Get the file of a video, or a redirect to it; for researchers. Byte ranges work. Tasks use `read_clip`."""
    return stream_video(request, get_video(request.user, slug, pk, Role.RESEARCHER))


@router.get("/videos/{int:pk}/film-strip", response=STATUSES, openapi_extra=FILE)
def read_film_strip(request: HttpRequest, slug: Slug, pk: int) -> Any:
    """Get the film strip of a video: its frames in one image."""
    video = get_video(request.user, slug, pk, Role.RESEARCHER)
    if not video.film_strip:
        raise Http404(_("This video has no film strip yet."))
    return stream_file(request, video.film_strip)


@router.get("/clips/{slug:token}", response=STATUSES, openapi_extra=FILE)
def read_clip(request: HttpRequest, slug: Slug, token: str) -> Any:
    """Get the clip of one of your tasks, as its claim names it; byte ranges work."""
    return stream_video(request, get_clip(request.user, slug, token), blind=True)


@router.get("/frames/{int:pk}/image", response=STATUSES, openapi_extra=FILE)
def read_frame(request: HttpRequest, slug: Slug, pk: int) -> Any:
    """Get the image of a frame of an object check."""
    frame = checked_frame_for(request.user, get_project(request.user, slug), pk)
    if not frame.image:
        raise Http404(_("This frame has no image yet. Try again later."))
    return stream_file(request, frame.image)
